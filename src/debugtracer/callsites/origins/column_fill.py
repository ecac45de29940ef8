"""Where a number was written that stands in all rows of a column (`near * torch.ones_like(x)`, `torch.full((n, 1),
near)`), and the line where that number is set. The source is read, nothing is executed."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from debugtracer.callsites.origins.column_line import JOINS, place_of
from debugtracer.callsites.origins.handed_on import COPIES, SAME
from debugtracer.callsites.origins.option_lines import literal
from debugtracer.callsites.origins.sample_origin import function_at
from debugtracer.callsites.origins.setting_origin import written
from debugtracer.callsites.origins.value_origin import Link, Use, last_write, program_of
from debugtracer.callsites.origins.written_names import final_name, writes_of
from debugtracer.trace.birth import Frame

ONES = ("ones", "ones_like", "new_ones")
ZEROS = ("zeros", "zeros_like", "new_zeros")
FILLED = {"full": 1, "full_like": 1, "new_full": 1}
DEEP = 8  # names and calls gone through (ours)


class ColumnFill(NamedTuple):
    """The line that wrote the number into the rows, and the one where it is set."""

    written: Frame
    frame: Frame


def column_fill(uses: Sequence[Use], column: int | None, number: float) -> ColumnFill | None:
    """The lines of a number in all rows: of the first of these expressions that has one part, among those that it
    joins, which is this number; None where none has, or several parts are."""
    for use in uses:
        found = [fill for one in parts(use, column) if (fill := filled(one, number)) is not None]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def uses_of(links: Sequence[Link]) -> list[Use]:
    """The expressions of the lines that made a value."""
    return [link.value for link in links if link.value is not None]


def kept_uses(dataset: Any, name: str) -> list[Use]:
    """The expressions that the class of a data set writes into an attribute of its own, the last first."""
    code = getattr(getattr(type(dataset), "__getitem__", None), "__code__", None)
    program = program_of(code.co_filename) if code is not None else None
    method = function_at(program, code) if program is not None and code is not None else None
    owner = program.owner(method) if program is not None and method is not None else None
    if program is None or owner is None:
        return []
    found: list[Use] = []
    for write in reversed(writes_of(owner, f"self.{name}")):
        scope = program.function(write.node)
        value = write.node.value if isinstance(write.node, ast.AugAssign) else write.value
        if value is None or not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        target = write.node.targets[0] if isinstance(write.node, ast.Assign) else None
        found.append(Use(program, scope, value, part=place_of(target) if isinstance(target, ast.Subscript) else None))
    return found


def parts(use: Use, column: int | None) -> list[Use]:
    """What an expression joins to a table; itself where one column is meant that is written alone, or no column."""
    if column is None:
        return [use]
    if use.part is not None and isinstance(use.part, int):
        return [replace(use, part=None)] if use.part == column else []
    node = unwrapped(use.node)
    if isinstance(node, ast.List) and len(node.elts) == 1:  # a list that one more table is added to
        node = unwrapped(node.elts[0])
    if isinstance(node, ast.Call) and final_name(node.func) in (*JOINS, *COPIES) and node.args:
        node = node.args[0]
    if not isinstance(node, (ast.List, ast.Tuple)) or len(node.elts) < 2:
        return []
    return [replace(use, node=one, part=None) for one in node.elts]


def unwrapped(node: ast.expr) -> ast.expr:
    """What an expression moves or converts: `x` of `x.float()`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SAME:
        node = node.func.value
    return node


def filled(use: Use, number: float, depth: int = 0) -> ColumnFill | None:
    """The lines of an expression that is this number in all its places; None for any other."""
    node = unwrapped(use.node)
    if depth > DEEP:
        return None
    here = use.frame(node)
    if isinstance(node, ast.Name):
        last = last_write(use.program, use.scope, node.id, node.lineno)
        if last is not None and last.value is not None and last.part is None and last.key is None:
            found = filled(replace(use, node=last.value), number, depth + 1)
            if found is not None:
                return found
    given = scalar_of(node, number)
    return set_at(replace(use, node=given), here, number) if given is not None else None


def scalar_of(node: ast.expr, number: float) -> ast.expr | None:
    """The number that an expression repeats in all its places: `near` of `near * np.ones(n)`; None for any other."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = (node.left, node.right), (node.right, node.left)
        return next((other for one, other in sides if is_ones(unwrapped(one))), None)
    if not isinstance(node, ast.Call):
        return node if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)) else None
    name = final_name(node.func)
    if name in ZEROS or (name in ONES and number == 1):
        return ast.copy_location(ast.Constant(0.0 if name in ZEROS else 1.0), node)
    named = next((k.value for k in node.keywords if k.arg == "fill_value"), None)
    if name in FILLED:
        return named or (node.args[FILLED[name]] if FILLED[name] < len(node.args) else None)
    given = node.args[0] if name in COPIES and node.args else None
    return given.elts[0] if isinstance(given, ast.List) and len(given.elts) == 1 else given


def is_ones(node: ast.expr) -> bool:
    """Whether this is a call that makes ones."""
    return isinstance(node, ast.Call) and final_name(node.func) in ONES


def set_at(use: Use, at: Frame, number: float) -> ColumnFill | None:
    """The line of a scalar beside the one that writes it: where it stands as that number, or its name got it."""
    known = literal(use.node)
    if known is not None:
        return ColumnFill(at, at) if math.isclose(known, number, rel_tol=1e-6) else None
    line = getattr(use.node, "lineno", at.line)
    found = next((frame for frame in written(use, line, number) if stands(frame, number)), None)
    return ColumnFill(at, found) if found is not None else None


def stands(frame: Frame, number: float) -> bool:
    """Whether that number is written out on a line."""
    program = program_of(frame.file)
    given = [n.value for n in (program.every(ast.Constant) if program is not None else ()) if n.lineno == frame.line]
    numbers = [one for one in given if isinstance(one, (int, float)) and not isinstance(one, bool)]
    return any(math.isclose(abs(number), one, rel_tol=1e-6) for one in numbers)
