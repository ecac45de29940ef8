"""Where a class of the user's writes the weight of one of its layers: an assignment, a filling of nn.init, or one in
place."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame


def weight_line(stack: Sequence[Frame], weight: str) -> Frame | None:
    """The last line that writes `self.WEIGHT` (`conv2.weight`) in the class of the nearest of these lines that does;
    None where none of them does."""
    for frame in stack:
        program = program_of(frame.file)
        scope = scope_at(program, frame.line) if program is not None else None
        owner = program.owner(scope) if program is not None and scope is not None else None
        inside = ast.walk(owner) if owner is not None else ()
        lines = [n.lineno for n in inside if isinstance(n, ast.stmt) and writes(n, f"self.{weight}")]
        if program is not None and lines:
            at = scope_at(program, max(lines))
            code = program.text.splitlines()[max(lines) - 1].strip()
            return Frame(str(program.path), max(lines), at.name if at is not None else "<module>", code)
    return None


def writes(node: ast.stmt, weight: str) -> bool:
    """Whether one statement writes a weight: `w = ...`, `w.data[0] = ...`, `w.data.zero_()`, `nn.init.zeros_(w)`."""
    if isinstance(node, ast.Assign):
        return any(part_of(target, weight) for target in node.targets)
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not final_name(call.func).endswith("_"):
        return False
    own = isinstance(call.func, ast.Attribute) and part_of(call.func.value, weight)
    return own or any(part_of(argument, weight) for argument in call.args[:1])


def part_of(node: ast.expr, weight: str) -> bool:
    """Whether an expression is the weight, its data or a part of either."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.unparse(node).removesuffix(".data") == weight
