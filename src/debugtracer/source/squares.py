"""Lines of source that compute `1 - x ** 2`, the derivative of tanh by its output: right for x within -1..1 alone."""

from __future__ import annotations

import ast


def one_minus_square(code: str) -> str | None:
    """The x of the only `1 - x ** 2` of a line (`1 - x.pow(2)`, `1 - x * x`); None where there is none, or several."""
    try:
        tree = ast.parse(code.strip())
    except (SyntaxError, ValueError):
        return None
    found = {ast.unparse(of) for node in ast.walk(tree) if (of := subtracted(node)) is not None}
    return found.pop() if len(found) == 1 else None


def subtracted(node: ast.AST) -> ast.expr | None:
    """What is squared in `1 - x ** 2`; a small number added to it does not matter."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub) or not is_number(node.left, 1):
        return None
    right = node.right
    if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow) and is_number(right.right, 2):
        return right.left
    if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Mult):
        return right.left if ast.unparse(right.left) == ast.unparse(right.right) else None
    if not isinstance(right, ast.Call) or not isinstance(right.func, ast.Attribute):
        return None
    named, given = right.func.attr, right.args
    if ast.unparse(right.func.value) == "torch":
        power = named == "square" or (named == "pow" and len(given) == 2 and is_number(given[1], 2))
        return given[0] if power and given else None
    power = named == "square" or (named == "pow" and len(given) == 1 and is_number(given[0], 2))
    return right.func.value if power else None


def is_number(node: ast.expr, value: float) -> bool:
    """Whether an expression is this number, written out."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == value
