"""Do the gradients live from backward to step?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import running
from debugtracer.trace.facts.order import Call, StepOrder
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ZeroGradMisplaced(Check, frozen=True):
    """The gradients are cleared between backward and step.

    What it catches
        `loss.backward(); optimizer.zero_grad(); optimizer.step()`: every gradient is thrown away before it is used.
    Why it matters
        The update writes nothing (or only weight decay and old momentum); the loss stays at chance without an error.
    How it decides
        In two updates running of one optimizer a backward wrote its gradients, `zero_grad` was called after the last of
        these backwards, and the step began without a gradient other than 0. A guard that clears a bad gradient does so
        now and then, not in each update. Where another optimizer holds the same parameters, it has used the gradients.
    What to do
        Move `zero_grad` before the backward or after the step.
    Example
        step 0, rank 0: zero_grad (train.py:21) is called between backward (train.py:20) and step, so SGD found no
        gradient in two updates running; expected zero_grad before backward or after step. Move it.
    """

    needs: ClassVar[tuple[type[StepOrder], type[Wiring]]] = (StepOrder, Wiring)
    kind: ClassVar[str] = "gradients_cleared"
    symptom: ClassVar[str] = "no_learning"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = ("move zero_grad before the backward, or after optimizer.step()",)
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/bike_hire"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer, at the misplaced call of the first of two updates."""
        wiring = window.last(Wiring)
        for fact in window.new(StepOrder):
            own = wiring is None or not wiring.doubles(fact.frame)
            begun = running(window.memory(self), fact, own and fact.empty and clearing(fact) is not None)
            call = clearing(begun) if begun is not None else None
            if begun is not None and call is not None:
                last = begun.backwards()[-1]
                yield self.finding(
                    window,
                    "error",
                    f"zero_grad{spot(call.frame)} is called between backward{spot(last.frame)} and step, so "
                    f"{begun.kind} found no gradient in two updates "
                    "running; expected zero_grad before backward or after step. Move it.",
                    ref=begun.ref,
                    place=Place(frame=call.frame),
                    update=begun.number,
                )


def clearing(fact: StepOrder) -> Call | None:
    """The zero_grad after the last backward that wrote gradients of this optimizer."""
    wrote = [index for index, call in enumerate(fact.calls) if call.word == "backward" and call.live]
    return next((call for call in fact.calls[wrote[-1] :] if call.word == "zero_grad"), None) if wrote else None
