"""A torch function called outside modules: what is written on the tape before it runs and once it has."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, TypeAlias

import torch
from torch import Tensor

from debugtracer.callsites.frames import calling_place
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.tape.entry import TENSORS, Entry, tensors
from debugtracer.recorder.tape.functions import GRAD_GET, RANDOM_INPLACE, FunctionMeaning, property_name
from debugtracer.recorder.tape.step_tape import Segment, Tape, address

Pending: TypeAlias = tuple[Any, Entry | None]
"""The first argument of a call that is about to run, and its entry; None: its result is kept as a constant."""

MOST_MADE = 32  # tensors of a segment among which one is looked for, some microseconds (ours)
DEEPEST = 64  # frames in which a module's conversion is looked for (ours)
MODULES = torch.nn.modules.module.__file__
MOVES = ("to", "cuda", "cpu", "float", "double")
"""Conversions of a module that keep the values."""
OTHER_MEMORY = ("__set__", "set_")  # give a tensor another storage


def prepare(
    tape: Tape, what: FunctionMeaning, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Pending | None:
    """Encode the arguments of a torch function before it runs, saving what it overwrites. None: not recorded."""
    if tape.current.full:
        return None
    first = args[0] if args else next((kwargs[k] for k in ("tensor", "input", "self") if k in kwargs), None)
    in_place = what is FunctionMeaning.INPLACE
    if in_place and is_untaped(tape, function, first, args[1:]):
        return None
    if what is FunctionMeaning.DRAW or not (type(first) in TENSORS or any(True for _ in tensors((args, kwargs)))):
        return first, None
    drawn = what is FunctionMeaning.RANDOM or (in_place and function.__name__ in RANDOM_INPLACE)
    entry = tape.open("fn", function, args, kwargs, rng=RngState(True, own_generators(args, kwargs)) if drawn else None)
    if in_place or "out" in kwargs:
        for written in tensors(first if in_place else kwargs["out"]):
            tape.save_before_write(written, getattr(function, "__name__", ""), entry.frames)
    return first, entry


def is_untaped(tape: Tape, function: Any, first: Any, values: Any = ()) -> bool:
    """True for an in-place call that is not recorded; one that replaces a parameter's data refuses the segment."""
    if isinstance(first, torch.nn.Parameter) and property_name(function) == "data":
        tape.current.refused = "the data of a parameter was replaced inside the step"
        if not is_moved():
            tape.note_write(first, function, values)
        return True
    # lasting state updated by hand (EMA, clamp): later calls see its effect
    untaped = (
        isinstance(first, Tensor)
        and not torch.is_grad_enabled()
        and is_state(first)
        and id(first) not in tape.current.leaves
    )
    if untaped:
        tape.note_write(first, function, values)
    return untaped


def is_moved() -> bool:
    """Whether a module is on its way to a device or a wider type, which writes no new values: `model.to(device)`."""
    frame: FrameType | None = sys._getframe(1)
    applied = False
    for _ in range(DEEPEST):
        if frame is None:
            break
        code = frame.f_code
        if code.co_filename == MODULES and code.co_name in MOVES and applied:
            return True
        applied = applied or (code.co_filename == MODULES and code.co_name == "_apply")
        frame = frame.f_back
    return False


def finish(tape: Tape, what: FunctionMeaning, function: Any, pending: Pending, output: Any) -> None:
    """Append the entry of a function that has run, or keep its result as a constant."""
    first, entry = pending
    if entry is None or (function == GRAD_GET and is_older_gradient(tape)):
        tape.constant(function, output)
    elif type(output) in TENSORS or what is FunctionMeaning.INPLACE or any(True for _ in tensors(output)):
        tape.close(entry, output)
        if entry.scalar and first is not None:
            tape.mark_losslike(output, first)
        if what is FunctionMeaning.INPLACE and function.__name__ in OTHER_MEMORY:
            tape.current.moved_storage()


def is_idle(tape: Tape, what: FunctionMeaning, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True for a call of a loop without a graph that did the same in rounds before: no update needs its entry, a tensor
    of it that one takes is kept as it is. A write into what the segment has taken is no such call."""
    segment = tape.current
    if segment.has_graph or segment.backwards or not tape.rounds.repeats(calling_place()):
        return False
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors((args, kwargs))):
        return False
    written = kwargs.get("out", args[0] if args and what is FunctionMeaning.INPLACE else None)
    if written is None:
        return what is not FunctionMeaning.INPLACE
    return (
        type(written) is Tensor
        and not written.requires_grad
        and not segment.sharing(written)
        and not made_there(segment, written)
    )


def made_there(segment: Segment, written: Tensor) -> bool:
    """True where a tensor lies in memory of one that the segment has made, or may do so."""
    if len(segment.made) > MOST_MADE:
        return True
    place = address(written)
    return any(place == address(tensor) for made, _ in segment.made.values() if (tensor := made()) is not None)


def is_older_gradient(tape: Tape) -> bool:
    """True where a gradient is that of the backward which ended the last segment, as in a hand-written update: a replay
    of this segment does not make it."""
    if tape.current.backwards or tape.previous is None or not tape.previous.entries:
        return False
    return tape.previous.entries[-1].kind == "backward"


def own_generators(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Generator]:
    """The generators that a call was given."""
    return [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Generator)]


def is_state(tensor: Tensor) -> bool:
    """True for a parameter or another leaf that training changes in place."""
    return isinstance(tensor, torch.nn.Parameter) or tensor.requires_grad
