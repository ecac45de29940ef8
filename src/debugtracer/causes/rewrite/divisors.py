"""Keeps a divisor away from 0."""

from __future__ import annotations

import ast

from debugtracer.causes.rewrite.arguments import TINY, at_least
from debugtracer.causes.rewrite.line import Line, NotUnderstood, is_number, only, operand, root, word

DIVISIONS = ("div", "divide", "true_divide")
POSITIVE = (
    "norm",
    "vector_norm",
    "std",
    "var",
    "abs",
    "sqrt",
    "exp",
    "square",
    "relu",
    "softplus",
    "sigmoid",
    "count_nonzero",
    "clamp_min",
)
# these return a number of Python, which has no clamp
NUMBERS = ("len", "int", "float", "item", "numel", "size", "max", "min")


def guarded(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """The divisor of the only division: clamped where it cannot be negative, plus eps elsewhere. `dtype` is that of the
    divisor; a count is at least 1."""
    found = [node for node in divisors(line) if not is_number(node)]
    tensors = [node for node in found if not is_python(node)]
    return line.replaced({node: safe(line, node, value, dtype) for node in only(tensors or found, line)})


def divisors(line: Line) -> list[ast.expr]:
    """What the line divides by: `/`, `/=`, div(), reciprocal()."""
    found: list[ast.expr] = []
    for node in ast.walk(line.statement):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            found.append(node.right)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            found.append(node.value)
    found += [call.args[-1] for call in line.calls(*DIVISIONS) if call.args]
    return found + [operand(call) for call in line.calls("reciprocal")]


def safe(line: Line, node: ast.expr, value: float | None, dtype: str) -> str:
    """Return the source of one divisor, rewritten so that it is not 0. Raises NotUnderstood."""
    if is_python(node):
        return f"max({line.text(node)}, 1)"
    if dtype.startswith(("int", "uint", "bool")):
        return at_least(line, node, "1")
    eps = value if value is not None else TINY.get(dtype, 1e-8)
    if isinstance(node, ast.Call) and word(node) in POSITIVE:
        return at_least(line, node, f"{eps:g}")
    if isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Compare, ast.BoolOp)):
        raise NotUnderstood("the divisor is a choice")
    inside = isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow)  # behind `/` it has its brackets already
    return f"{line.text(node)} + {eps:g}" if inside else f"({line.text(node)} + {eps:g})"


def is_python(node: ast.expr) -> bool:
    """True if the divisor is surely a number of Python, no tensor."""
    return isinstance(node, ast.Call) and (word(node) in NUMBERS or root(node.func) == "math")
