"""Does each update start from gradients of its own?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import running
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

AGAIN = "again"  # what the notebook has of updates that used gradients again


class ZeroGradMissing(Check, frozen=True):
    """An update used gradients that the update before it had already used.

    What it catches
        A loop without `zero_grad`, with one that clears other parameters, or with one that runs once per epoch. Two
        calls of `step()` for one backward: `scaler.step(optimizer)` and `optimizer.step()`.
    Why it matters
        The gradients of all batches so far pile up: the update grows without bound, points to the past, and the loss
        climbs or stands still.
    How it decides
        By identity and version of each gradient: it stood when the last update ended, was not cleared or changed by
        anyone, was not 0 at the next backward, that backward added to it, and the next update of the same optimizer
        used the sum. Gradients that only stand are no fault: a GAN leaves them in the other network and clears them
        later. Seen in two updates running. Or the update has the very gradients that the last update of the same
        optimizer had, none of them written since, and no backward in between, twice.
    What to do
        Call `optimizer.zero_grad()` once per update, before its first backward.
    Example
        step 1, rank 0: fc.weight and 7 more of 8 gradients were already used by the update before and never cleared;
        the backward (train.py:53) adds to them, so each update applies the sum of all batches so far; expected
        gradients of this update only.
    """

    needs: ClassVar[tuple[type[StepOrder]]] = (StepOrder,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "stale_gradients"
    symptom: ClassVar[str] = "loss_spike"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "call optimizer.zero_grad() once per update, before its first backward",
        (
            "if only some parameters are left over: clear what the optimizer holds (optimizer.zero_grad), not what the "
            "module holds"
        ),
    )
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/leaf_counts"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer, at the first of two updates running (or the last of a run that ends)."""
        memory = window.memory(self)
        for fact in window.new(StepOrder):
            if fact.repeated:
                yield from self.twice(window, memory.setdefault(AGAIN, {}), fact)
            begun = running(memory, fact, bool(fact.stale))
            if begun is not None:
                yield self.describe(window, begun)
        if window.ended:
            yield from (
                self.describe(window, begun)
                for begun in memory.values()
                if isinstance(begun, StepOrder) and begun.number == 1
            )

    def twice(self, window: Window, known: dict[int, StepOrder | None], fact: StepOrder) -> Iterator[Finding]:
        """Yield an optimizer at the second update that used gradients again, once."""
        first = known.setdefault(fact.optimizer, fact)
        if first is not None and first is not fact:
            known[fact.optimizer] = None
            yield self.again(window, first)

    def again(self, window: Window, fact: StepOrder) -> Finding:
        """Build the finding of an update without gradients of its own."""
        told = self.finding(
            window,
            "error",
            f"{fact.kind} is stepped a second time{spot(fact.step_frame)} with the gradients of the update before it: "
            f"{fact.repeated} of {fact.grads} are the same, and no backward was called in between; expected one step "
            "for one backward. Remove one of the two calls.",
            ref=fact.ref,
            place=Place(frame=fact.step_frame or fact.frame),
            remedies=(
                "remove one of the two calls; scaler.step(optimizer) calls optimizer.step() itself",
                "call zero_grad() directly after step(): a second step finds no gradient then",
            ),
            repeated=fact.repeated,
        )
        return msgspec.structs.replace(told, symptom="silent")

    def describe(self, window: Window, fact: StepOrder) -> Finding:
        """Build the finding with the parameters whose gradients pile up, and where."""
        more = f" and {fact.stale_count - 1} more" if fact.stale_count > 1 else ""
        return self.finding(
            window,
            "error",
            f"{fact.stale[0]}{more} of {fact.grads} gradients were already used by the update before and never "
            f"cleared; the backward{spot(fact.stale_frame)} adds to them, so each update{spot(fact.step_frame)} "
            "applies the sum of all batches so far; expected gradients of this update "
            "only. Call optimizer.zero_grad() before each new update.",
            ref=msgspec.structs.replace(fact.ref, iteration=fact.stale_iteration, phase="backward"),
            place=place(fact),
            stale=fact.stale_count,
            update=fact.number,
            accumulated=max(len(fact.backwards()) - 1, 0),
        )


def place(fact: StepOrder) -> Place:
    """Where to clear: at the update, or before the backward where a function of its own holds it (a closure of LBFGS
    that runs several times in one step)."""
    step, backward = fact.step_frame, fact.stale_frame
    apart = (
        step is not None and backward is not None and (step.file, step.function) != (backward.file, backward.function)
    )
    shown = (backward, step) if apart else (step or backward, backward)
    return Place(param=fact.stale[0], frame=shown[0], symptom_frame=shown[1])
