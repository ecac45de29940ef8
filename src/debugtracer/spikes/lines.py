"""Where a person edits when learning itself goes wrong: the line of the optimizer, and the line of the loss that shows
it."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

RISE = 3.0  # times the rate of the update before (as optimizer/lr-jump)


def lines(window: Window, lr_jump: float = 0.0, rate: bool = True) -> Place:
    """The optimizer's line if there is one optimizer, or the one that says its rate, and that of the last call of a
    loss function; after a jump of the rate, the schedule's line. `rate`: the rate is what is to be edited."""
    wiring, call = window.last(Wiring), window.last(LossCall)
    frame = wiring.optimizers[0].frame if wiring is not None and len(wiring.optimizers) == 1 else None
    said = window.last(Rate)
    if said is not None and frame is not None and rate:
        frame = said.rate_frame or frame
    if lr_jump and said is not None:
        frame = said.value_frame or said.scheduler_frame or frame
    if lr_jump and (risen := raised(window)) is not None:
        frame = risen.value_frame or risen.rate_frame or risen.scheduler_frame or risen.frame or frame
    return Place(frame=frame, symptom_frame=call.frame if call is not None else None)


def raised(window: Window) -> Rate | None:
    """The last rate that rose at once, whichever optimizer it is of."""
    rates = [(fact, as_float(fact.before or 0.0)) for fact in window.seen(Rate)]
    return next((fact for fact, before in reversed(rates) if as_float(fact.high) >= RISE * before > 0), None)


def rise_told(window: Window, times: float) -> str:
    """Say that the rate had just risen so many times, from what to what and by which schedule, as a clause; empty for
    0."""
    risen = raised(window) if times else None
    if risen is None:
        return f"; the learning rate had just risen {times:.3g}-fold" if times else ""
    frame = risen.value_frame or risen.rate_frame or risen.scheduler_frame
    at = f"{frame.file.rpartition('/')[2]}:{frame.line}" if frame is not None else ""
    by = " at ".join(filter(None, (risen.scheduler, at)))
    return (
        f"; the learning rate had just risen {times:.3g}-fold, from {as_float(risen.before or 0.0):.3g} to "
        f"{as_float(risen.high):.3g}{f', set by {by}' if by else ''}"
    )


def built_at(window: Window, kind: str) -> Frame | None:
    """Where the user built the optimizer of that kind: the line to edit."""
    wiring = window.last(Wiring)
    return next((o.frame for o in wiring.optimizers if o.kind == kind), None) if wiring is not None else None


def rate_at(window: Window, kind: str) -> Frame | None:
    """The line that says the rate of the optimizer of that kind, else the one that built it."""
    said = next((fact.rate_frame for fact in reversed(window.seen(Rate)) if fact.kind == kind), None)
    return said or built_at(window, kind)
