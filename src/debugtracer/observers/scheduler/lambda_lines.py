"""Which line of the user's function gave the factor of a scheduler made of functions (LambdaLR, MultiplicativeLR), and
which one of its own `get_lr` the rate of a scheduler that is the user's class."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch

from debugtracer.callsites.frames import USER, as_frame, place_of
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import last_write, program_of, scope_at
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
        self.own_lines: ById[Any, tuple[CodeType, int]] = ById()
        self.covered: set[type] = set()

    def install(self) -> None:
        """Wrap get_lr of the two classes."""
        for kind in (torch.optim.lr_scheduler.LambdaLR, torch.optim.lr_scheduler.MultiplicativeLR):
            self.patches.wrap(kind, "get_lr", self.wrapped)

    def remove(self) -> None:
        self.patches.undo()
        self.covered.clear()

    def cover(self, scheduler: Any) -> None:
        """Wrap the `get_lr` of a class of the user's, once."""
        owner = next((kind for kind in type(scheduler).__mro__ if "get_lr" in vars(kind)), None)
        if owner is None or owner in self.covered or hasattr(scheduler, "lr_lambdas"):
            return
        if own_code(vars(owner)["get_lr"]) is not None:
            self.covered.add(owner)
            self.patches.wrap(owner, "get_lr", self.wrapped)

    def wrapped(self, original: Any) -> Any:
        """Wrap get_lr with a trace function of ours, unless a debugger or a coverage tool has one."""

        own = own_code(original)
        kept = self.own_lines if own is not None else self.lines

        @functools.wraps(original)
        def get_lr(scheduler: Any, /, *args: Any, **kwargs: Any) -> Any:
            if sys.gettrace() is not None or not self.wanted():
                return original(scheduler, *args, **kwargs)
            asked = (own_code(f) for f in (getattr(scheduler, "lr_lambdas", ()) if own is None else (original,)))
            codes = {code for code in asked if code is not None}
            if not codes:
                return original(scheduler, *args, **kwargs)
            seen: list[tuple[CodeType, int]] = []
            sys.settrace(listener(codes, seen))
            try:
                return original(scheduler, *args, **kwargs)
            finally:
                sys.settrace(None)
                if seen:
                    kept[scheduler] = seen[-1]

        return get_lr

    def frame_of(self, scheduler: Any) -> Frame | None:
        """The line of the last return that was traced."""
        found = self.lines.get(scheduler) if scheduler is not None else None
        return as_frame(*found) if found is not None else None

    def computed_at(self, scheduler: Any) -> Frame | None:
        """The line of the user's own `get_lr` that computed the rate last, as far as that was traced."""
        found = self.own_lines.get(scheduler) if scheduler is not None else None
        return computed_line(*found) if found is not None else None


def own_code(function: Any) -> CodeType | None:
    """The code of a function of the user's; None for a library's."""
    code = getattr(function, "__code__", None)
    return code if code is not None and place_of(code) == USER else None


def computed_line(code: CodeType, line: int) -> Frame:
    """The line that computes what a function returns at a line: of a list that is written over several lines, or kept
    under a name, that of its first entry. Reads source."""
    program = program_of(code.co_filename)
    node = next((n for n in program.every(ast.Return) if n.lineno == line), None) if program is not None else None
    value = node.value if node is not None else None
    if program is not None and isinstance(value, ast.Name):
        last = last_write(program, scope_at(program, line), value.id, line)
        value = last.value if last is not None else None
    if isinstance(value, ast.ListComp):
        value = value.elt
    elif isinstance(value, ast.List) and value.elts:
        value = value.elts[0]
    return at_line(program, value.lineno) if program is not None and value is not None else as_frame(code, line)


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
    codes = {c for f in given if (c := own_code(inspect.unwrap(f) if callable(f) else f)) is not None}
    if len(codes) != 1:
        return None
    code = codes.pop()
    returns = {one.offset for one in dis.get_instructions(code) if one.opname == "RETURN_VALUE"}
    lines = [line for start, end, line in code.co_lines() if line is not None and returns & {*range(start, end)}]
    return as_frame(code, lines[-1]) if lines else None
