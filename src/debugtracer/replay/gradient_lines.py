"""A bad gradient that executing the step again did not explain: the lines of the function in flight that write
gradients by hand between backward and update are computed again, to see which of them made the first bad value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import msgspec
import torch
from torch import Tensor

from debugtracer.callsites.line import user_frame
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.run_state import parameters
from debugtracer.replay.lines_again import LinesAgain, Write, is_bad
from debugtracer.replay.loop_items import items_of, reached
from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.trace.birth import Birth

MOST = 256  # parameters that a loop over them is gone through for (ours)


def birth_in_gradient_lines(alarm: Alarm) -> Birth:
    """The op of a line whose value goes into a gradient and was the first bad one. Syncs the host. Raises
    ReplayRefused."""
    frame = user_frame()
    program = program_of(frame.f_code.co_filename) if frame is not None else None
    if frame is None or program is None:
        raise ReplayRefused("no line of the program is on the stack")
    lines = LinesAgain(frame)
    written = [one for node in lines.nodes if (one := gradient_write(node)) is not None]
    if not written:
        raise ReplayRefused("no line of the function in flight writes a gradient")
    read = names_behind([node for _, node in written], lines.writes)
    steps: list[Write] = [one for one in lines.writes if one[1] in read]
    steps += [(node.lineno, "the gradient", node) for _, node in written]
    held = parameters(alarm.optimizer) if alarm.optimizer is not None else list(alarm.trained)
    for line, name, node in sorted(steps, key=lambda one: one[0]):
        for value, tracker in values_of(lines, line, node, held):
            birth = find_birth(tracker, [(name, value)])
            if birth is not None and birth.op is not None:
                return msgspec.structs.replace(birth, entry=None, rows=None)
    raise ReplayRefused("no line that writes a gradient, computed again, did show it")


def values_of(lines: LinesAgain, line: int, node: ast.expr, held: list[Tensor]) -> Iterator[tuple[Tensor, OpTracker]]:
    """The bad values that an expression on a line gives, for each parameter of a loop around it whose gradient is bad
    and for which the conditions on the way hold; with the ops that made each."""
    for given in tries(lines, line, held):
        if not reached(lines, line, given):
            continue
        tracker = OpTracker()
        tracer = OpTracer(observers=[tracker])
        try:
            with torch.no_grad(), tracer, tracer.entry(0, (lines.place(line),)):
                value = lines.instead(given).again(line, node)
        except Exception:
            continue  # it cannot be computed again
        if isinstance(value, Tensor) and is_bad(value, with_infinite=True):
            yield value, tracker


def tries(lines: LinesAgain, line: int, held: list[Tensor]) -> list[dict[str, Any]]:
    """What the names of a loop over parameters held for each of those with a bad gradient; nothing to be put under any
    name where no such loop is around the line. Syncs the host."""
    looped, loop = lines.looped(line), lines.loop_around(line)
    if loop is None or not any(lines.values.get(looped) is one for one in held):
        return [{}]
    items: list[dict[str, Any]] | None = items_of(lines, loop)
    if items is None:
        items = [{looped: one} for one in held]
    return [given for given in items[:MOST] if any(map(spoiled, given.values()))]


def spoiled(value: Any) -> bool:
    """Whether this is a parameter with a bad gradient. Syncs the host."""
    grad = value.grad if isinstance(value, Tensor) and value.is_leaf else None
    return grad is not None and is_bad(grad, with_infinite=True)


def gradient_write(node: ast.AST) -> tuple[ast.AST, ast.expr] | None:
    """A statement that writes a gradient, with the expression that it takes: `p.grad = x`, `p.grad.data *= x`,
    `p.grad.mul_(x)`."""
    if isinstance(node, ast.AugAssign) and of_gradient(node.target):
        return node, node.value
    if isinstance(node, ast.Assign) and any(map(of_gradient, node.targets)):
        return node, node.value
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
        in_place = call.func.attr.endswith("_") and not call.func.attr.endswith("__")
        return (node, call.args[0]) if in_place and of_gradient(call.func.value) else None
    return None


def of_gradient(node: ast.expr) -> bool:
    """Whether an expression is a gradient, or its values: `p.grad`, `p.grad.data`, `p.grad[0]`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            return True
        node = node.value
    return False


def names_behind(nodes: list[ast.expr], writes: list[Write]) -> set[str]:
    """The names that expressions read, with those that these were made of."""
    found: set[str] = set()
    waiting: list[ast.expr] = list(nodes)
    while waiting:
        fresh = {n.id for n in ast.walk(waiting.pop()) if isinstance(n, ast.Name)} - found
        found |= fresh
        waiting += [node for _, name, node in writes if name in fresh]
    return found
