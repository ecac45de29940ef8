"""Where a person edits when learning itself goes wrong: the line of the optimizer, and the line of the loss that shows
it."""

from __future__ import annotations

from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


def lines(window: Window, lr_jump: float = 0.0) -> Place:
    """The optimizer's line if there is one optimizer, and that of the last call of a loss function; after a jump of the
    rate, the schedule's line."""
    wiring, call = window.last(Wiring), window.last(LossCall)
    frame = wiring.optimizers[0].frame if wiring is not None and len(wiring.optimizers) == 1 else None
    rate = window.last(Rate)
    if rate is not None and frame is not None:
        frame = rate.rate_frame or frame
    if lr_jump and rate is not None:
        frame = rate.value_frame or rate.scheduler_frame or frame
    return Place(frame=frame, symptom_frame=call.frame if call is not None else None)
