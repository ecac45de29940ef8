"""The line of the program that divides data by their own maximum. The source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import last_write, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

LARGEST = frozenset({"max", "amax", "nanmax"})
SCALERS = frozenset({"MinMaxScaler", "MaxAbsScaler", "minmax_scale", "maxabs_scale"})


def maximum_line(files: Sequence[str]) -> Frame | None:
    """The only line of these files that divides something by its maximum, or by what lies between that and the minimum,
    or calls what does; None for none and for several."""
    found: dict[tuple[str, int], Frame] = {}
    for program in (p for file in files if (p := program_of(file)) is not None):
        for node in program.nodes:
            if isinstance(node, (ast.BinOp, ast.AugAssign, ast.Call)) and scales(program, node):
                found[str(program.path), node.lineno] = at_line(program, node.lineno)
    return next(iter(found.values())) if len(found) == 1 else None


def scales(program: Program, node: ast.BinOp | ast.AugAssign | ast.Call) -> bool:
    """Whether a node is such a division or call."""
    if isinstance(node, ast.Call):
        return final_name(node.func) in SCALERS
    divided, by = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
    if isinstance(divided, ast.BinOp) and isinstance(divided.op, ast.Sub):
        divided = divided.left
    return isinstance(node.op, ast.Div) and is_largest(program, by, ast.unparse(divided), node.lineno)


def is_largest(program: Program, node: ast.expr, whole: str, line: int, depth: int = 0) -> bool:
    """Whether an expression is the maximum of what is divided, or what lies between it and something else."""
    if isinstance(node, ast.Call):
        return final_name(node.func) in LARGEST and whole == of_what(node)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Sub, ast.Add)) and is_largest(program, node.left, whole, line, depth)
    if not isinstance(node, ast.Name) or depth:
        return False
    last = last_write(program, scope_at(program, line), node.id, line)
    return last is not None and last.value is not None and is_largest(program, last.value, whole, line, depth + 1)


def of_what(call: ast.Call) -> str:
    """What the maximum is taken of: `x` of `np.max(x)`, `x.max()` and `x.abs().max()`; empty for `max(a, b)`."""
    if isinstance(call.func, ast.Attribute) and not call.args[:1]:
        held: ast.expr = call.func.value
        inside = held.func if isinstance(held, ast.Call) and not held.args else None
        return ast.unparse(inside.value if isinstance(inside, ast.Attribute) and inside.attr == "abs" else held)
    return ast.unparse(call.args[0]) if len(call.args) == 1 else ""
