"""Does bookkeeping keep the graphs of past steps alive?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.held_graphs import HeldGraphs
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class HeldGraph(Check, frozen=True):
    """Losses or outputs are stored with their autograd graph.

    What it catches
        `total += loss`, `losses.append(loss)`, an average of live losses, outputs kept for a metric without detach.
    Why it matters
        Each step's graph stays in memory until the program dies of it, hours later and at an innocent line.
    How it decides
        A mark on the graph of each loss and root output dies with the graph. When the graphs of 16 past steps are alive
        after their backward, it is a warning: no update needs them any more. The variable that holds them is looked for
        on the stack.
    What to do
        Store the number: `loss.item()` or `loss.detach()`.
    Example
        step 18, rank 0: the graphs of the losses of 16 past steps are alive, held by `total` (train.py:31); expected at
        most that of the step before. Store total += loss.item() or loss.detach().
    """

    needs: ClassVar[tuple[type[HeldGraphs]]] = (HeldGraphs,)
    kind: ClassVar[str] = "memory_leak_graph"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "store the number: loss.item(), or loss.detach() where it must stay on the device",
        "outputs kept for a metric: output.detach().cpu()",
    )
    proved_by: ClassVar[str] = "logging/live_total"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding per growing holder, losses first: the output of a step belongs to the graph of its loss."""
        told = window.memory(self)
        for fact in sorted(window.new(HeldGraphs), key=lambda fact: fact.what != "loss"):
            if told and fact.steps < 4 * max(told.values()):
                continue  # the same graphs seen from their outputs
            told[fact.what] = fact.steps
            yield self.describe(window, fact)

    def describe(self, window: Window, fact: HeldGraphs) -> Finding:
        """Build the finding with the variable that holds the graphs."""
        whose = "losses" if fact.what == "loss" else "model outputs"
        at = f" ({fact.frame.file.rsplit('/', 1)[-1]}:{fact.frame.line})" if fact.frame is not None else ""
        holder = f", held by `{fact.name}`{at}" if fact.name else ""
        return self.finding(
            window,
            "warning",
            f"the graphs of the {whose} of {fact.steps} past steps are alive{holder}; expected at most that of the "
            "step before. "
            f"Store {fact.what}.item() or {fact.what}.detach().",
            ref=fact.ref.__class__(iteration=fact.since, step=fact.ref.step, rank=fact.ref.rank),
            place=Place(frame=fact.frame),
            graphs=fact.steps,
            of=fact.of,
        )
