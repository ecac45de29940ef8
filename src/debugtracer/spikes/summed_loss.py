"""A loss that adds up its rows while plain gradient descent makes each update as long as the gradient."""

from __future__ import annotations

from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

MEAN = "Take the mean over the rows: reduction='mean'."
ROWS = 8  # that a loss adds up, from which on that is told (ours)


def summed(window: Window) -> LossCall | None:
    """The only loss that is trained on, where it adds up its rows and the only optimizer is SGD."""
    wiring = window.last(Wiring)
    if wiring is None or [one.kind for one in wiring.optimizers] != ["SGD"]:
        return None
    calls = [call for call in window.seen(LossCall) if call.input_grad and call.reduction != "none"]
    known = [call for call in calls if call.reduction == "sum" and call.input_shape and call.input_shape[0] >= ROWS]
    return known[0] if known and len({call.key() for call in calls}) == 1 else None


def sum_told(call: LossCall) -> str:
    """Say what it adds up and where that is asked for, as a clause."""
    rows = call.input_shape[0]
    apart = call.chosen if call.chosen != call.frame else None
    asked = f" (reduction='sum', {file_line(apart)})" if apart is not None else ""
    called = spot(call.frame)
    return f"; {call.loss}{called} adds up {rows} rows{asked}, so its gradient is {rows} times their mean"


def sum_place(call: LossCall) -> Place:
    """The line that asks for the sum, and that of the call."""
    return Place(frame=call.chosen or call.frame, symptom_frame=call.frame)
