"""Where a zero was made that a line divides by: back through functions that give 0 for 0, and through `1 - x` to what
reached 1. The source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.handed_on import carrier
from debugtracer.callsites.origins.value_origin import Link, Use, last_write, origin, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame

DEEP = 8  # lines gone back through (ours)
KEEPS = {
    0.0: {"sqrt": 0.0, "square": 0.0, "abs": 0.0, "cumprod": 0.0, "prod": 0.0, "exp": float("-inf")},
    float("-inf"): {"log": 0.0, "cumsum": float("-inf"), "sum": float("-inf")},
}
"""For a value that a function gave: what its argument was."""


def zero_made(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """The lines from the one that let the divisor on the innermost of these lines become 0 to the one that wrote it;
    none where the line divides by nothing of the module's own, or by several such values."""
    program = program_of(stack[0].file) if stack else None
    scope = scope_at(program, stack[0].line) if program is not None else None
    if program is None or scope is None:
        return ()
    divisors = [
        node.right
        for node in ast.walk(scope)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div)
        and node.lineno <= stack[0].line <= (node.end_lineno or node.lineno)
    ]
    own = {ast.unparse(one) for node in divisors if isinstance(one := carrier(node), ast.Attribute)}
    own = {name for name in own if name.startswith("self.")}
    links = origin(own.pop(), stack[:1]) if len(own) == 1 else ()
    made = next((link for link in links if link.value is not None and link.kind == "made"), None)
    return back(made, 0.0) if made is not None else ()


def back(link: Link, value: float) -> tuple[Frame, ...]:
    """The lines that this value of a line comes from, the first first."""
    lines = [link.frame]
    use = link.value
    for _ in range(DEEP):
        following = argument(use, value) if use is not None else None
        if use is None or following is None:
            break
        name, value = following
        last = last_write(use.program, use.scope, name, lines[-1].line)
        if last is None or last.value is None or last.part is not None:
            break
        use = Use(use.program, use.scope, last.value, use.above)
        lines.append(use.frame(last.node))
    return tuple(dict.fromkeys(lines[::-1]))


def argument(use: Use, value: float) -> tuple[str, float] | None:
    """The name that an expression takes this value from, and what that was; None where it is not of one name."""
    node = carrier(use.node)
    if isinstance(node, ast.Name):
        return node.id, value
    if isinstance(node, ast.BinOp):
        inner, left = carrier(node.right), node.left
        from_one = isinstance(node.op, ast.Sub) and isinstance(left, ast.Constant) and left.value == 1
        return (inner.id, 1.0) if from_one and value == 0 and isinstance(inner, ast.Name) else None
    if not isinstance(node, ast.Call):
        return None
    given = KEEPS.get(value, {}).get(final_name(node.func))
    method = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in ("torch", "np", "numpy", "F")
    inside = node.func.value if method and isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
    if given is None or inside is None:
        return None
    name = carrier(inside)
    return (name.id, given) if isinstance(name, ast.Name) else argument(Use(use.program, use.scope, inside), given)
