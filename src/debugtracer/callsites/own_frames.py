"""Takes our frames out of the traceback of a program that fails, so that it reads as it would without us."""

from __future__ import annotations

import dis
import functools
from types import CodeType, TracebackType
from typing import Any

from torch import nn
from torch.nn.modules import module as torch_module

from debugtracer.callsites.frame_locals import local
from debugtracer.callsites.frames import OURS, place_of
from debugtracer.errors import DebugTracerError, guarded

# torch calls a function twice when a function mode listens; the first call is our doing
DETOUR = "handle_torch_function"
HIDES = 8  # chained exceptions looked at (ours)
PASSES_ON = "CALL_FUNCTION_EX"  # f(*args, **kwargs): how we call what the user called
CALLS = ("_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks", "_global_backward_pre_hooks")
OWN_CALLS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@guarded("own_frames.hide")
def hide(error: BaseException | None) -> None:
    """Unlink them, also in the exceptions it came from. An error of our own stays whole."""
    for _ in range(HIDES):
        if error is None:
            return
        if not isinstance(error, DebugTracerError):
            strip(error)
        error = error.__cause__ or error.__context__


def strip(error: BaseException) -> None:
    """Strip one traceback; its first entry stays unless it is a call of a module that our hooks made longer."""
    entries = []
    trace = error.__traceback__
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    if not entries or (is_ours(entries[-1]) and not passes_on(entries[-1])):
        return
    dropped = {i for i in range(1, len(entries)) if is_ours(entries[i])}
    dropped |= detours(entries, dropped)
    short = {i: plain_call(entries[i]) for i in range(len(entries) - 1) if lengthened(entries[i], entries[i + 1])}
    dropped |= {i + 1 for i in short}
    kept = [short.get(i, entry) for i, entry in enumerate(entries) if i not in dropped]
    for entry, following in zip(kept, [*kept[1:], None], strict=True):
        entry.tb_next = following
    if kept[0] is not entries[0]:
        error.__traceback__ = kept[0]


def is_ours(entry: TracebackType) -> bool:
    """True for a line of this package."""
    return place_of(entry.tb_frame.f_code) == OURS


def passes_on(entry: TracebackType) -> bool:
    """Whether this line calls on the user's behalf: what a function written in C raises there is the user's."""
    return dis.opname[entry.tb_frame.f_code.co_code[entry.tb_lasti]] == PASSES_ON


def detours(entries: list[TracebackType], ours: set[int]) -> set[int]:
    """What torch adds because a mode of ours listens: its handler, and the first of two calls of the same function."""
    found: set[int] = set()
    for i in ours:
        if i > 1 and entries[i - 1].tb_frame.f_code.co_name == DETOUR:
            following = next((entries[j] for j in range(i + 1, len(entries)) if j not in ours), None)
            twice = i > 2 and following is not None and entries[i - 2].tb_frame.f_code is following.tb_frame.f_code
            found |= {i - 1, i - 2} if twice else {i - 1}
    return found


def lengthened(entry: TracebackType, following: TracebackType) -> bool:
    """Whether a module was called the long way, by way of `inner`, for the sake of our hooks alone."""
    code, inner = entry.tb_frame.f_code, following.tb_frame.f_code
    if (
        code is not nn.Module._call_impl.__code__
        or inner.co_name != "inner"
        or inner.co_filename != code.co_filename
        or fast_call(code) is None
    ):
        return False
    module: Any = local(entry.tb_frame, "self")
    hooks = [h for name in CALLS for h in getattr(torch_module, name, {}).values()] + [
        h for name in OWN_CALLS for h in getattr(module, name, {}).values()
    ]
    return all(is_our_hook(hook) for hook in hooks)


def is_our_hook(hook: Any) -> bool:
    """True for a function, method, partial or callable object of this package."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    code = getattr(getattr(hook, "__func__", hook), "__code__", None)
    code = getattr(type(hook).__call__, "__code__", None) if code is None else code
    return isinstance(code, CodeType) and place_of(code) == OURS


def plain_call(entry: TracebackType) -> TracebackType:
    """The entry of a module call as it reads where nobody hooks."""
    code = entry.tb_frame.f_code
    at = fast_call(code) or 0
    line = next((line for start, stop, line in code.co_lines() if start <= at < stop), None)
    return TracebackType(None, entry.tb_frame, at, line or entry.tb_lineno)


@functools.lru_cache(maxsize=8)
def fast_call(code: CodeType) -> int | None:
    """Where `return forward_call(*args, **kwargs)` stands in torch's short way, before `inner` is made; None in a torch
    that has none."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == PASSES_ON:
            return instruction.offset
        if instruction.opname == "MAKE_FUNCTION":
            return None
    return None
