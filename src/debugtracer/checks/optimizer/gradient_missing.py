"""Has every optimizer that steps something to step with?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.graph_reach import Cut, GraphReach
from debugtracer.trace.facts.no_gradient import NoGradient
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

BACKWARD_MISSING = (
    "call loss.backward() between the forward and optimizer.step()",
    "return the loss from the training step of a trainer: where it gives None, Lightning runs no backward",
)
LASTS = 3  # steps after which detached-graph speaks of what is cut off


class GradientMissing(Check, frozen=True):
    """An optimizer steps again and again, and none of its parameters ever has a gradient.

    What it catches
        A part whose output never reaches the loss (called under `no_grad`, or not at all), an optimizer over another
        model's parameters.
    Why it matters
        step() skips parameters without a gradient, and no error says so: this part never learns.
    How it decides
        Before its updates 1, 2, 4, 8 and so on no parameter that asks for a gradient had one, not even one of 0, in 64
        updates, or at least 8 when the run ended, though backward ran in at least half as many. Where none ever ran:
        8 updates or more, and half as many calls of a model in training mode with a graph. One gradient ends the
        question. Optimizers that are not torch's own may need none. Where the parameters belong to no model that is
        called, another optimizer holds them all, or the graph is seen to be cut in three steps running, the checks for
        that say more.
    What to do
        Hand the loss what this part computes, or build the optimizer from the parameters of the model that is called.
    Example
        step 63, rank 0: SGD (train.py:22) made 64 updates and none of its 4 parameters had a gradient in 7 looks;
        expected one from each backward. Let the loss depend on them, or build it from the model that is called.
    """

    needs: ClassVar[tuple[type, ...]] = (NoGradient, Wiring, GraphReach)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "parameters_not_updated"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "let the loss depend on what these parameters compute, outside torch.no_grad()",
        "build the optimizer from the parameters of the model that is called",
    )
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "optimizer/pump_alarm"

    updates: int = 64  # of a run that goes on (ours)
    least: int = 8  # of one that is over (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each optimizer."""
        memory, wiring = window.memory(self), window.last(Wiring)
        if wiring is not None and any(optimizer.strangers for optimizer in wiring.optimizers):
            return
        reach = {fact.built: fact for fact in window.seen(GraphReach) if fact.lost}
        for fact in {f.optimizer: f for f in window.seen(NoGradient)}.values():
            enough = fact.updates >= (self.least if window.ended else self.updates)
            seen = reach.get(fact.frame) if fact.frame is not None else None
            told = fact.optimizer in memory or (seen is not None and seen.lasting >= LASTS)
            told = told or (wiring is not None and wiring.doubles(fact.frame))
            if told or not enough:
                continue
            if 2 * fact.backwards >= fact.updates:
                memory[fact.optimizer] = True
                yield self.describe(window, fact, seen.cut if seen is not None else None)
            elif window.ended and not fact.backwards and 2 * fact.forwards >= fact.updates:
                memory[fact.optimizer] = True
                yield self.without_backward(window, fact)

    def without_backward(self, window: Window, fact: NoGradient) -> Finding:
        """Build the finding on a run in which nothing was ever derived."""
        return self.finding(
            window,
            "error",
            f"{fact.kind}{spot(fact.frame)} made {fact.updates} updates, the model was called{spot(fact.called)} "
            f"{fact.forwards} times in training mode, and no backward ever ran, so none of its "
            f"{counted(fact.held, 'parameter')} had a gradient; expected loss.backward() before each "
            "update. Call it; in Lightning and other trainers return the loss from the training step.",
            ref=fact.ref,
            place=Place(frame=fact.called or fact.frame),
            remedies=BACKWARD_MISSING,
            updates=fact.updates,
            held=fact.held,
            forwards=fact.forwards,
        )

    def describe(self, window: Window, fact: NoGradient, cut: Cut | None) -> Finding:
        """Build the finding, with the line that ends the graph if it was seen."""
        ends = cut.frame if cut is not None else None
        why = f": {cut.function}{spot(ends)} ends the graph" if cut is not None and ends is not None else ""
        return self.finding(
            window,
            "warning",
            f"{fact.kind}{spot(fact.frame)} made {fact.updates} updates and none of its "
            f"{counted(fact.held, 'parameter')} had a gradient in {fact.looks} looks{why}; expected one from each "
            "backward. Let the loss depend on them, or build it from the model that is called.",
            ref=fact.ref,
            place=Place(frame=ends or fact.frame),
            kind="detached_graph" if why else None,
            updates=fact.updates,
            held=fact.held,
        )
