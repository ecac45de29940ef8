"""Which line of the user's function gave the factor of a scheduler made of functions (LambdaLR, MultiplicativeLR)."""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch

from debugtracer.callsites.frames import USER, as_frame, place_of
from debugtracer.hooks.hook import Patches
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame


class LambdaLines:
    """Listens to the returns of these functions while `get_lr` asks them, on the calls that somebody wants to know
    about."""

    def __init__(self, wanted: Callable[[], bool]) -> None:
        self.wanted = wanted
        self.patches = Patches()
        self.lines: ById[Any, tuple[CodeType, int]] = ById()

    def install(self) -> None:
        """Wrap get_lr of the two classes."""
        for kind in (torch.optim.lr_scheduler.LambdaLR, torch.optim.lr_scheduler.MultiplicativeLR):
            self.patches.wrap(kind, "get_lr", self.wrapped)

    def remove(self) -> None:
        self.patches.undo()

    def wrapped(self, original: Any) -> Any:
        """Wrap get_lr with a trace function of ours, unless a debugger or a coverage tool has one."""

        @functools.wraps(original)
        def get_lr(scheduler: Any) -> Any:
            if sys.gettrace() is not None or not self.wanted():
                return original(scheduler)
            codes = {
                code
                for f in getattr(scheduler, "lr_lambdas", ())
                if (code := getattr(f, "__code__", None)) is not None and place_of(code) == USER
            }
            if not codes:
                return original(scheduler)
            seen: list[tuple[CodeType, int]] = []
            sys.settrace(listener(codes, seen))
            try:
                return original(scheduler)
            finally:
                sys.settrace(None)
                if seen:
                    self.lines[scheduler] = seen[-1]

        return get_lr

    def frame_of(self, scheduler: Any) -> Frame | None:
        """The line of the last return that was traced."""
        found = self.lines.get(scheduler) if scheduler is not None else None
        return as_frame(*found) if found is not None else None


def listener(codes: set[CodeType], seen: list[tuple[CodeType, int]]) -> Any:
    """A trace function that notes the line of each return of these codes."""

    def inside(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return" and argument is not None:
            seen.append((frame.f_code, frame.f_lineno))
        return inside

    def calls(frame: FrameType, event: str, argument: Any) -> Any:
        return inside if event == "call" and frame.f_code in codes else None

    return calls


def function_line(scheduler: Any) -> Frame | None:
    """The line at which the user's only function of a scheduler, or its own `get_lr`, returns: of several the last one;
    None where there is no such function. Nothing is called."""
    given = [*getattr(scheduler, "lr_lambdas", ()), getattr(type(scheduler), "get_lr", None)]
    codes = {c for f in given if (c := getattr(f, "__code__", None)) is not None and place_of(c) == USER}
    if len(codes) != 1:
        return None
    code = codes.pop()
    returns = {one.offset for one in dis.get_instructions(code) if one.opname == "RETURN_VALUE"}
    lines = [line for start, end, line in code.co_lines() if line is not None and returns & {*range(start, end)}]
    return as_frame(code, lines[-1]) if lines else None
