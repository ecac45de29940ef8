"""A guard in the user's line against the value that was born there, in the words of the library that the line uses."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torch import Tensor

from debugtracer.replay.fetch.descent import Origin
from debugtracer.replay.fetch.expressions import MISSING, Names
from debugtracer.replay.fetch.kinds import OriginKind, below_zero
from debugtracer.replay.fetch.values import array_of, is_bad

LEAST = {"spread": "1e-6", "norm": "1e-6", "division": "1e-6", "log": "1e-10"}
"""The bound of a divisor or an argument, by kind."""
FLOATS = {"float16": "float32", "half": "float"}


def guarded_line(origin: Origin, kind: OriginKind) -> str:
    """The line with the guard; empty where there is none to derive, where it stands on several lines, and where the
    expression is not finite with it."""
    statement = origin.executed.statement
    guard = GUARDS.get(kind.kind)
    node, text = guard(origin, kind) if guard is not None else (None, "")
    if node is None or not text or node.lineno != node.end_lineno or statement.line != node.lineno:
        return ""
    whole = ast.parse(ast.unparse(origin.node), mode="eval").body
    tried = origin.names.value(replaced(whole, ast.unparse(node), text))
    line = statement.program.text.splitlines()[node.lineno - 1].encode()
    after = (line[: node.col_offset] + text.encode() + line[node.end_col_offset :]).decode().strip()
    return "" if tried is MISSING or is_bad(tried) else after


def replaced(whole: ast.expr, part: str, text: str) -> ast.expr:
    """An expression with one of its parts written anew."""

    class Put(ast.NodeTransformer):
        """Puts the new text in the place of the old."""

        def visit(self, node: ast.AST) -> Any:
            """Replace a node that reads like the part."""
            if isinstance(node, ast.expr) and ast.unparse(node) == part:
                return ast.parse(text, mode="eval").body
            return self.generic_visit(node)

    made = Put().visit(whole)
    return made if isinstance(made, ast.expr) else whole


def of_divisor(origin: Origin, kind: OriginKind) -> tuple[ast.expr | None, str]:
    """The divisor, kept away from 0 where it cannot be negative; any other has no guard that is right."""
    if kind.divisor is None:
        return None, ""
    return kind.divisor, at_least(kind.divisor, LEAST[kind.kind], origin.names)


def of_argument(origin: Origin, kind: OriginKind) -> tuple[ast.expr | None, str]:
    """Keep what a logarithm is taken of away from 0."""
    if kind.argument is None or below_zero(origin.names.value(kind.argument)):
        return None, ""
    return kind.argument, at_least(kind.argument, LEAST["log"], origin.names)


def of_half(origin: Origin, kind: OriginKind) -> tuple[ast.expr | None, str]:
    """The cast to float16, to float32 instead."""
    for node in ast.walk(origin.node):
        if isinstance(node, ast.Attribute) and node.attr in FLOATS:
            text = ast.unparse(node.value)
            return node, f"{text}.{FLOATS[node.attr]}"
        if isinstance(node, ast.Constant) and node.value == "float16":
            return node, '"float32"'
    return None, ""


GUARDS: dict[str, Callable[[Origin, OriginKind], tuple[ast.expr | None, str]]] = {
    "spread": of_divisor,
    "norm": of_divisor,
    "log": of_argument,
    "half": of_half,
}


def at_least(node: ast.expr, least: str, names: Names) -> str:
    """Bound an expression from below, by what its value is of."""
    value, text = names.value(node), ast.unparse(node)
    if isinstance(value, Tensor):
        simple = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
        return f"{text}.clamp_min({least})" if simple else f"({text}).clamp_min({least})"
    if isinstance(value, float) and array_of(value) is None:
        return f"max({text}, {least})"
    numpy = next((name for name, one in names.scope.items() if getattr(one, "__name__", "") == "numpy"), "")
    return f"{numpy}.maximum({text}, {least})" if numpy and array_of(value) is not None else ""
