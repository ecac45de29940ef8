"""Steps put on a tape by hand, call by call."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from debugtracer.recorder.tape.entry import Entry
from debugtracer.recorder.tape.step_tape import Tape


def a_tape() -> Tape:
    """A tape that keeps no frames."""
    return Tape(lambda: ())


def call(tape: Tape, function: Any, *args: Any, kind: Any = "fn", **kwargs: Any) -> tuple[Tensor, Entry]:
    """Execute a call and record it; its output and its entry."""
    entry = tape.open(kind, function, args, kwargs)
    output = function(*args, **kwargs)
    return output, tape.close(entry, output)


def backward(tape: Tape, loss: Tensor) -> Entry:
    """loss.backward(), recorded as the session does."""
    entry = tape.open("backward", None, ((loss,),), {})
    loss.backward()
    tape.close(entry, None)
    tape.current.backwards.append(entry.index)
    return entry
