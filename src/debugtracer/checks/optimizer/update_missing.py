"""Does a loop without an optimizer update its weights?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.own_updates import OwnUpdates
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class UpdateMissing(Check, frozen=True):
    """Gradients are made again and again, no optimizer steps, and nobody writes the weights.

    What it catches
        A loop whose optimizer was left out, one that writes its update into a copy (`p = p - lr * p.grad`), or behind a
        condition that is never true.
    Why it matters
        Nothing is learned and no error says so: the loss shows the noise of the batches.
    How it decides
        No optimizer was built, and the norms of all tensors with a gradient were the same at each of 20 backward calls
        or more, to the bit, when the run ended; or at 512 while it goes on, which is more than anybody accumulates. A
        model in evaluation mode and gradients of inputs (attacks, saliency) are meant so.
    What to do
        Write in place below `torch.no_grad()`, or build an optimizer and step it.
    Example
        step 192, rank 0: no update in 192 backward calls (train.py:31): no optimizer was built and the weights are what
        they were; expected one update for each batch or few. Step an optimizer, or write in place: p.sub_(lr * p.grad).
    """

    needs: ClassVar[tuple[type[OwnUpdates]]] = (OwnUpdates,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "parameters_not_updated"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "build an optimizer and call optimizer.step() after the backward",
        "or write in place under torch.no_grad(): p.sub_(lr * p.grad), not p = p - lr * p.grad",
    )
    family: ClassVar[str] = "update"
    proved_by: ClassVar[str] = "optimizer/soil_moisture"

    least: int = 20  # backward calls of a run that is over (ours)
    backwards: int = 512  # of one that goes on (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a run."""
        fact, memory = window.last(OwnUpdates), window.memory(self)
        if fact is None or memory or fact.updates or fact.optimizers or fact.inputs or not fact.trains:
            return
        if fact.backwards >= (self.least if window.ended else self.backwards):
            memory["told"] = True
            yield self.finding(
                window,
                "warning",
                f"no update in {fact.backwards} backward calls{spot(fact.backward_frame)}: no optimizer was built and "
                f"the weights are what they were{bound(fact)}; expected one update for each batch or few. Step an "
                "optimizer, or write in place: p.sub_(lr * p.grad).",
                ref=fact.ref,
                place=Place(frame=fact.rebound or fact.backward_frame, symptom_frame=fact.backward_frame),
                backwards=fact.backwards,
            )


def bound(fact: OwnUpdates) -> str:
    """Say which line computes a new weight and does not write it."""
    at = file_line(fact.rebound) if fact.rebound is not None else ""
    return f", as {at} binds the new value to a name and writes no parameter" if at else ""
