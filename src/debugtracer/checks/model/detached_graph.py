"""Do the losses hang on the parameters that made them?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.graph_reach import GraphReach
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


@dataclass(frozen=True)
class DetachedGraph(Check):
    """Parameters take part in the forward, but no loss hangs on them.

    What it catches
        `.detach()`, `.data`, numpy or `no_grad` in the middle of a model: all in front of it is cut off.
    Why it matters
        These parameters never change; the rest learns on random features, so the loss looks plausible.
    How it decides
        Autograd's graph is walked from each loss when backward begins. Trainable parameters that an optimizer holds
        were arguments of the forward, lie on no path and have no gradient in `steps` updates of that optimizer. It is a
        warning when they are at least `share` of those it trains; otherwise, or in modules in evaluation mode (frozen
        on purpose), a note. Parts with requires_grad False, other optimizers' parts (a GAN) and parts that are not
        called do not count.
    What to do
        Take away the call that ends the graph; if the part is frozen on purpose, set requires_grad_(False).
    Example
        step 0, rank 0: 4 parameters (encoder.0.weight, ...), 83 % of those that Adam trains, take part in the forward
        and no loss hangs on them: detach at line 22 ends the graph; expected a gradient. Remove the detach.
    """

    needs: ClassVar[tuple[type[GraphReach]]] = (GraphReach,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "detached_graph"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "remove the call that ends the graph",
        "if the part is frozen on purpose, set requires_grad_(False) on it",
    )
    proved_by: ClassVar[str] = "model/features_cut"

    steps: int = 3
    """Updates in a row (ours: a branch may be left out once)."""
    share: float = 0.5
    """Of the values the optimizer trains (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each optimizer for itself."""
        memory = window.memory(self)
        for fact in window.new(GraphReach):
            if fact.lasting <= 1:
                memory[fact.number] = fact
            if fact.lasting == self.steps:
                yield self.describe(window, memory.get(fact.number, fact))

    def describe(self, window: Window, fact: GraphReach) -> Finding:
        """Which parameters, and what ends the graph."""
        share = fact.lost_numel / max(fact.lost_numel + fact.reached, 1)
        count = (
            f"{len(fact.lost)} parameters ({fact.lost[0]}, ...)" if len(fact.lost) > 1 else f"parameter {fact.lost[0]}"
        )
        cut = (
            f": {fact.cut.function} at line {fact.cut.frame.line} ends the graph" if fact.cut and fact.cut.frame else ""
        )
        remedy = f"Remove the {fact.cut.function}" if fact.cut else "Look for .detach(), .data or no_grad"
        return self.finding(
            window,
            "warning" if share >= self.share and fact.cut and not fact.asleep else "note",
            f"{count}, {share:.0%} of the values that {fact.optimizer} trains, take part in the forward and no loss "
            f"hangs on them{cut}; "
            f"expected a gradient. {remedy}, or set requires_grad_(False) if they are frozen on purpose.",
            ref=fact.ref,
            place=Place(
                param=fact.lost[0],
                module=(fact.cut.module if fact.cut else None) or fact.lost[0].rpartition(".")[0] or None,
                frame=fact.cut.frame if fact.cut else None,
                symptom_frame=fact.symptom,
            ),
            share=share,
            lost=float(len(fact.lost)),
        )
