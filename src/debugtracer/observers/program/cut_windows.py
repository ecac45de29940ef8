"""A slice on the way to a crash that ends behind the end of what it is cut from, and so came out shorter than asked."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, cast

import numpy as np
from torch import Tensor, nn

from debugtracer.callsites.failing_expression import known_value
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.buffer_room import room_line
from debugtracer.callsites.origins.value_origin import made_first, origin, program_of, scope_at
from debugtracer.callsites.raising_frames import raising_frames
from debugtracer.errors import guarded
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import CutSeen

FRAMES = 3  # functions of the user's that are looked at, innermost first (ours)
ITEMS = 4096  # values of a loop that are tried (ours)
REFUSED = (
    "must match the existing size",
    "must match the size of tensor",
    "stack expects each tensor to be equal size",
    "Sizes of tensors must match",
    "could not broadcast input array",
    "expected sequence of length",
    "all input arrays must have the same shape",
    "setting an array element with a sequence",
)
"""What torch and numpy say of two lengths."""
COMPUTED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
SIZED = (str, bytes, list, tuple)
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)
Values = Mapping[str, Any]
Loop = ast.ListComp | ast.GeneratorExp


@guarded("crash.cut")
def cut_short(error: BaseException) -> CutSeen | None:
    """The slice that lacks as many values as the two lengths of the exception differ by; None where there is none."""
    if not any(text in str(error) for text in REFUSED):
        return None
    numbers = [int(n) for n in re.findall(r"\d+", str(error).splitlines()[0])[:64]]
    apart = {a - b for a in numbers for b in numbers if a > b > 1}  # 0 and 1 name dimensions
    walked = raising_frames(error)
    stack = tuple(as_frame(f.f_code, line) for f, line in walked)[::-1]
    for depth, (frame, line) in enumerate(walked[::-1][:FRAMES]):
        for node, loop, (low, high, size) in slices(frame, line):
            if high - max(size, low) in apart:
                stored = isinstance(node.ctx, ast.Store)
                first = [n for n in parts(node) if isinstance(n, ast.Slice) and n.upper is not None]
                return CutSeen(
                    text=ast.unparse(node), low=low, high=high, size=size,
                    frame=as_frame(frame.f_code, node.lineno), start=start(node, loop, stack[depth:]),
                    table=not stored and low == 0 and all(part.lower is None for part in first),
                    stored=stored, room=room_line(node, dim_of(node), stack[depth:]) if stored else None,
                )  # fmt: skip
    return None


def start(node: ast.Subscript, loop: Loop | None, stack: tuple[Frame, ...]) -> Frame | None:
    """The line that made the first name of where the slice begins, or what the loop around it goes through."""
    part = next((one for one in parts(node) if isinstance(one, ast.Slice) and one.lower is not None), None)
    names = [n.id for n in ast.walk(part.lower) if isinstance(n, ast.Name)] if part is not None and part.lower else []
    if loop is not None and names and names[0] == ast.unparse(loop.generators[0].target):
        names = [ast.unparse(loop.generators[0].iter)]
    made = made_first(origin(names[0], stack)) if names else ()
    return made[0] if made else None


def dim_of(node: ast.Subscript) -> int:
    """The dimension of the first part that has an end."""
    ended = (i for i, part in enumerate(parts(node)) if isinstance(part, ast.Slice) and part.upper is not None)
    return next(ended, 0)


def slices(frame: FrameType, line: int) -> Iterator[tuple[ast.Subscript, Loop | None, tuple[int, int, int]]]:
    """Yield the slices of a function, nearest above the line first, that end behind what they cut: the expression, the
    comprehension that it stands in, its two ends and the size."""
    program = program_of(frame.f_code.co_filename)
    if program is None:
        return
    scope, values = scope_at(program, line), {**frame.f_globals, **locals_of(frame)}
    inside = [
        n for n in ast.walk(scope if scope is not None else program.tree) if getattr(n, "lineno", line + 1) <= line
    ]
    loops = [n for n in inside if isinstance(n, COMPREHENSIONS) and len(n.generators) == 1]
    around = {id(n): loop for loop in loops for n in ast.walk(loop.elt)}
    for node in sorted((n for n in inside if isinstance(n, ast.Subscript)), key=lambda n: -n.lineno):
        for given in bindings(around.get(id(node)), values):
            found = ends(node, given)
            if found is not None:
                yield node, around.get(id(node)), found
                break


def bindings(loop: Loop | None, values: Values) -> Iterator[Values]:
    """Yield the names as they are, or with each value of the loop that the expression stands in."""
    if loop is None:
        yield values
        return
    target, items = loop.generators[0].target, loop.generators[0].iter
    held = values.get(items.id) if isinstance(items, ast.Name) else None
    listed: Any = held if type(held) in (list, tuple, range) else ()
    if isinstance(held, Tensor) and held.dim() == 1 and not held.is_floating_point():
        listed = held.tolist()
    for value in listed[:ITEMS] if isinstance(target, ast.Name) else ():
        yield {**values, cast(ast.Name, target).id: value}


def parts(node: ast.Subscript) -> list[ast.expr]:
    """What stands between the brackets, by dimension."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def ends(node: ast.Subscript, values: Values) -> tuple[int, int, int] | None:
    """The two ends and the size, of a slice that ends behind what it cuts."""
    table = table_of(node.value, values)
    shape = shape_of(value_of(node.value, values) if table is None else table)
    for part, size in zip(parts(node), shape, strict=False):
        if not isinstance(part, ast.Slice) or part.upper is None or part.step is not None:
            continue
        if part.lower is None and table is None and not isinstance(node.ctx, ast.Store):
            continue  # without a start it is a limit, `text[:100]`, that a shorter text may have
        low = number_of(part.lower, values) if part.lower is not None else 0
        high = number_of(part.upper, values)
        if low is not None and high is not None and 0 <= low < high and high > size:
            return low, high, size
    return None


def shape_of(value: Any) -> tuple[int, ...]:
    """The lengths of a sequence or an array; of nothing else is it asked."""
    if isinstance(value, Tensor) or type(value).__module__ == "numpy":
        return tuple(int(n) for n in getattr(value, "shape", ()))
    return (len(value),) if type(value) in SIZED else ()


def table_of(node: ast.expr, values: Values) -> Tensor | None:
    """The parameter or buffer that an attribute of a module is."""
    holder = value_of(node.value, values) if isinstance(node, ast.Attribute) else None
    if not isinstance(node, ast.Attribute) or not isinstance(holder, nn.Module):
        return None
    held = holder._parameters.get(node.attr)
    return held if held is not None else holder._buffers.get(node.attr)


def value_of(node: ast.expr, values: Values) -> Any:
    """The value of a name or of a plain attribute of one, None where it is not known; no code of the program runs."""
    return known_value(node, values)[1] if isinstance(node, (ast.Name, ast.Attribute)) else None


def length_of(node: ast.expr, values: Values) -> int | None:
    """The whole number that `x.size(1)` or `x.shape[1]` of a tensor is."""
    of, place = None, None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size":
        of, place = node.func.value, node.args[0] if len(node.args) == 1 else None
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        of, place = node.value.value, node.slice
    held = value_of(of, values) if of is not None else None
    dim = number_of(place, values) if isinstance(held, Tensor) and place is not None else None
    if isinstance(place, ast.UnaryOp) and isinstance(place.op, ast.USub) and isinstance(held, Tensor):
        behind = number_of(place.operand, values)
        dim = held.dim() - behind if behind is not None else None
    return int(held.shape[dim]) if isinstance(held, Tensor) and dim is not None and 0 <= dim < held.dim() else None


def element_of(node: ast.Subscript, values: Values) -> Any:
    """The element `starts[i]` of a list, or of an array of one dimension; no code of the program runs."""
    held, place = value_of(node.value, values), number_of(node.slice, values)
    known = type(held) in (list, tuple, range, Tensor, np.ndarray)
    if not known or place is None or (len(shape_of(held)) > 1) or not -len(held) <= place < len(held):
        return None
    return held[place]


def number_of(node: ast.expr, values: Values) -> int | None:
    """The whole number that an expression of names, constants, lengths and sums has."""
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        left, right = number_of(node.left, values), number_of(node.right, values)
        known = left is not None and right is not None and not (isinstance(node.op, ast.FloorDiv) and not right)
        return int(COMPUTED[type(node.op)](left, right)) if known else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        shape = shape_of(value_of(node.args[0], values))
        return shape[0] if shape else None
    if (length := length_of(node, values)) is not None:
        return length
    value: Any = node.value if isinstance(node, ast.Constant) else value_of(node, values)
    if isinstance(node, ast.Subscript):
        value = element_of(node, values)
    plain = isinstance(value, int) or type(value).__module__ == "numpy" or isinstance(value, Tensor)
    if isinstance(value, bool) or not plain:
        return None
    try:
        return operator.index(value)
    except (TypeError, ValueError, RuntimeError):
        return None  # an array, or a number with a fraction
