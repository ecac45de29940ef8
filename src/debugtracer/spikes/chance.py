"""What guessing costs: known only where the whole loss is one cross-entropy over a known number of classes."""

from __future__ import annotations

import math
from typing import NamedTuple

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import BINARY, INDEXED, LossCall
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.number import as_float
from debugtracer.trace.window import LOSS, Window

SAME = 1e-3  # relative difference up to which the loss of the step is the value of the call


class Chance(NamedTuple):
    """A classifier's loss."""

    classes: int
    frame: Frame | None
    """Where the loss is computed."""

    @property
    def level(self) -> float:
        """The loss of a uniform guess, nats."""
        return math.log(self.classes)


def chance(window: Window) -> Chance | None:
    """The chance level of the run; None unless one call makes the whole loss and one optimizer learns from it."""
    calls = [call for call in window.seen(LossCall) if call.input_grad]
    wiring = window.last(Wiring)
    if not calls or len({call.key() for call in calls}) != 1 or (wiring is not None and len(wiring.optimizers) > 1):
        return None
    last = calls[-1]
    classes = 2 if last.loss in BINARY else last.classes if last.loss in INDEXED else None
    if not classes or classes < 2 or last.reduction != "mean" or last.weighted or not whole(window, calls):
        return None
    return Chance(classes, last.frame)


def whole(window: Window, calls: list[LossCall]) -> bool:
    """True if the value of each call was the loss of its step, as far as both are known."""
    losses = window.series.get(LOSS, ())
    compared = 0
    for call in calls:
        ago = window.ref.iteration - call.ref.iteration
        if call.value is None or not 0 <= ago < len(losses):
            continue
        value, loss = as_float(call.value), losses[-1 - ago]
        if not math.isclose(value, loss, rel_tol=SAME):
            return False
        compared += 1
    return compared > 0
