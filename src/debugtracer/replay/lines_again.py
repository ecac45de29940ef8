"""A bad loss whose step was not recorded: the lines of the function that asks for its gradient are computed again with
the values that it holds, to see which of them made the first bad one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from types import FrameType
from typing import Any

import msgspec
import torch
from torch import Tensor

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import USER, as_frame, place_of
from debugtracer.callsites.line import user_frame
from debugtracer.callsites.origins.value_origin import argument_of, calls_at, program_of
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.replay.op_trace.birth import deliberate, find_birth
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.replay.pure_expression import Impure, compute, held_in
from debugtracer.trace.birth import Birth, Frame

HOPS = 16  # names that are overwritten on the way, gone back through (ours)
Write = tuple[int, str, ast.expr]
"""Line, name and expression of an assignment to one plain name."""


class LinesAgain:
    """The function in flight: what it has written so far, and what it holds now."""

    def __init__(self, frame: FrameType) -> None:
        """Take a frame on the stack. Raises ReplayRefused where its source cannot be read."""
        program = program_of(frame.f_code.co_filename)
        if program is None:
            raise ReplayRefused("the source of the line cannot be read")
        self.frame, self.values = frame, locals_of(frame)
        first, now = frame.f_code.co_firstlineno, frame.f_lineno
        module = frame.f_code.co_name == "<module>"
        self.nodes: list[ast.stmt] = []
        """The statements of the function before the line in flight."""
        self.loops: list[ast.For] = []
        """Its loops."""
        self.writes: list[Write] = []
        self.unpacked: dict[str, int] = {}
        """Names that were last written together with others, out of one value, and the line of each."""
        for node in program.nodes:
            held = program.function(node)
            here = held is None if module else held is not None and first_line(held) == first
            if here and isinstance(node, ast.For):
                self.loops.append(node)
            if here and isinstance(node, ast.stmt) and node.lineno < now:
                self.nodes.append(node)
                one_by_one = written(node)
                self.writes += one_by_one
                self.unpacked |= {} if one_by_one else dict.fromkeys(stored(node), node.lineno)
        self.hops = 0

    def looped(self, line: int) -> str:
        """The last name that the innermost loop around a line gives a value; "" outside of loops."""
        loop = self.loop_around(line)
        names = [n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)] if loop is not None else []
        return names[-1] if names else ""

    def loop_around(self, line: int) -> ast.For | None:
        """The innermost loop around a line; None outside of loops."""
        around = [loop for loop in self.loops if loop.body[0].lineno <= line <= (loop.end_lineno or loop.lineno)]
        return max(around, key=lambda loop: loop.lineno, default=None)

    def instead(self, values: dict[str, Any]) -> LinesAgain:
        """The same function with other values under some names."""
        other = copy(self)
        other.values, other.hops = {**self.values, **values}, 0
        return other

    def place(self, line: int) -> Frame:
        """A line of the function."""
        return as_frame(self.frame.f_code, line)

    def bad(self, with_infinite: bool) -> Iterator[Write]:
        """The assignments whose name holds a bad value now, in the order of their lines. Syncs the host."""
        last = {name: line for line, name, _ in self.writes}
        for line, name, node in sorted(self.writes, key=lambda write: write[0]):
            value = self.values.get(name)
            if last[name] == line and isinstance(value, Tensor) and is_bad(value, with_infinite):
                yield line, name, node

    def handed(self, line: int, with_infinite: bool) -> str | None:
        """The first name unpacked before a line that holds a bad value, in words. Syncs the host."""
        last = {name: line for line, name, _ in self.writes}
        for name, made in sorted(self.unpacked.items(), key=lambda one: one[1]):
            value = self.values.get(name)
            if last.get(name, 0) < made < line and isinstance(value, Tensor) and is_bad(value, with_infinite):
                finite = int(torch.isfinite(value.detach()).sum())
                bad = f"{value.numel() - finite} of {value.numel()} values that are not finite"
                return f"{name} of line {made} holds {bad}, and a call of the program is not made again"
        return None

    def again(self, line: int, node: ast.expr) -> Any:
        """What an expression on a line gives. Raises Impure, and what the operations raise."""
        return compute(node, lambda name: self.value(name, line))

    def value(self, name: str, line: int) -> Any:
        """What a name held before a line: what it holds now, or what its last write before made, where this line or a
        later one has overwritten it."""
        lines = [write for write in self.writes if write[1] == name]
        if not lines or max(write[0] for write in lines) < line:
            if name in self.values:
                return self.values[name]
            if name in self.frame.f_globals:
                return self.frame.f_globals[name]
            raise Impure
        before = [write for write in lines if write[0] < line]
        self.hops += 1
        if self.hops > HOPS:
            raise Impure
        return self.again(before[-1][0], before[-1][2]) if before else self.passed(name)

    def passed(self, name: str) -> Any:
        """What the calling line passed for a parameter that has been overwritten since, from what its function still
        holds. Raises Impure where that is not one expression of the program's."""
        code, caller = self.frame.f_code, self.frame.f_back
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if caller is None or name not in names or place_of(caller.f_code) != USER:
            raise Impure
        program = program_of(caller.f_code.co_filename)
        place = names.index(name) - (names[:1] == ("self",)) if name in names[: code.co_argcount] else -1
        calls = calls_at(program, caller.f_lineno, code.co_name) if program is not None else []
        given = [one for call in calls if (one := argument_of(call, name, place)) is not None]
        if len(given) != 1:
            raise Impure
        return compute(given[0], held_in({**caller.f_globals, **locals_of(caller)}))


def birth_in_lines(alarm: Alarm) -> Birth:
    """The op of a line that made the first bad value. Syncs the host. Raises ReplayRefused."""
    frame = user_frame()
    if frame is None:
        raise ReplayRefused("no line of the program is on the stack")
    lines = LinesAgain(frame)
    infinite = alarm.loss is None or not bool(torch.isnan(alarm.loss.detach()).any())
    for line, name, node in lines.bad(infinite):
        tracker = OpTracker()
        tracer = OpTracer(observers=[tracker])
        try:
            with torch.no_grad(), tracer, tracer.entry(0, (lines.place(line),)):
                value = lines.again(line, node)
        except Exception as error:
            raise ReplayRefused(f"line {line} cannot be computed again ({type(error).__name__})") from None
        birth = find_birth(tracker, [(name, value)])
        if birth is None or birth.op is None or deliberate(tracker, [(name, value)]):
            raise ReplayRefused(lines.handed(line, infinite) or f"line {line}, computed again, did not show it")
        return msgspec.structs.replace(birth, entry=None, rows=None)
    raise ReplayRefused("no variable of the function in flight holds a bad value")


def first_line(function: ast.AST) -> int:
    """The line of a function as its code has it: that of its first decorator."""
    decorators = getattr(function, "decorator_list", [])
    return int(decorators[0].lineno if decorators else getattr(function, "lineno", 0))


def written(node: ast.stmt) -> list[Write]:
    """What a statement assigns to plain names, with the expression of each."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        return [(node.lineno, node.target.id, ast.copy_location(ast.BinOp(read, node.op, node.value), node))]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return [(node.lineno, node.target.id, node.value)]
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        return [(node.lineno, target.id, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts, strict=True)
        return [(node.lineno, t.id, v) for t, v in pairs if isinstance(t, ast.Name)]
    return []


def stored(node: ast.stmt) -> list[str]:
    """The names that an assignment of one value to several writes."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [
        name.id
        for target in targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    ]


def is_bad(value: Tensor, with_infinite: bool) -> bool:
    """Whether a dense floating tensor holds a NaN, or an infinity where those are meant too."""
    if not value.is_floating_point() or value.layout is not torch.strided:
        return False
    with torch.no_grad(), torch._C.DisableTorchFunction():
        found = ~torch.isfinite(value.detach()) if with_infinite else torch.isnan(value.detach())
        return bool(found.any())
