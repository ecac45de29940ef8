"""What one line of source computes that can give NaN or Inf for finite numbers, and what to do about it."""

from __future__ import annotations

import ast

LOGS = ("log", "log2", "log10")
ROOTS = ("sqrt", "power", "pow", "float_power")
ARCS = ("arccos", "arcsin", "acos", "asin", "arctanh", "atanh", "arccosh", "acosh")
DIVIDES = ("divide", "true_divide", "div", "reciprocal", "rsqrt")
DIVISOR = "put 1 in place of a divisor that is 0 (an empty row, a constant column) before it is divided by"
ARGUMENT = "take the logarithm of at least a small positive number, and look why the argument is not above 0"
ROOT = "keep the argument at or above 0"
DOMAIN = "clamp the argument into the domain of the function"


def risk(code: str) -> str | None:
    """The remedy for the first such thing of a line; None where it computes none."""
    try:
        tree = ast.parse(code.strip())
    except (SyntaxError, ValueError):
        return None
    return next((found for node in ast.walk(tree) if (found := of_node(node)) is not None), None)


def of_node(node: ast.AST) -> str | None:
    """The remedy for one expression."""
    if isinstance(node, ast.BinOp):
        inverse = isinstance(node.op, ast.Pow) and negative(node.right)
        return DIVISOR if inverse or isinstance(node.op, (ast.Div, ast.Mod)) else None
    if isinstance(node, ast.AugAssign):
        return DIVISOR if isinstance(node.op, ast.Div) else None
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    if name in DIVIDES or (name in ROOTS and any(negative(argument) for argument in node.args)):
        return DIVISOR
    if name in LOGS:
        return ARGUMENT
    return ROOT if name == "sqrt" else DOMAIN if name in ARCS else None


def negative(node: ast.expr) -> bool:
    """True for a number below 0 that is written out."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
