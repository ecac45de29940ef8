"""What was applied on the way to an expression: does a largest value subtracted, a clamp, a cosine bound it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from debugtracer.source.names import method
from debugtracer.source.scope import Binding
from debugtracer.source.values import Values

BOUNDING = frozenset({
    "max", "amax", "maximum", "logsumexp", "min", "minimum", "clamp", "clip", "clamp_max", "clamp_min", "tanh",
    "sigmoid", "softmax", "log_softmax", "normalize", "cosine_similarity",
})  # fmt: skip


def bounded(values: Values, node: ast.AST) -> bool:
    """True if a bounding function was applied to a part of it."""
    return made_with(values, node, BOUNDING)


def made_with(values: Values, node: ast.AST, functions: frozenset[str], deep: int = 4) -> bool:
    """True if one of the functions was applied on the way, followed through four assignments."""
    for part in ast.walk(node):
        if (
            isinstance(part, ast.Call)
            and (values.names.torch_function(part.func) or method(part) or "").removesuffix("_") in functions
        ):
            return True
        if deep and isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            made = [right for binding in values.scope.reaching(part) for right in made_of(values, binding)]
            if any(made_with(values, right, functions, deep - 1) for right in made):
                return True
    return False


def made_of(values: Values, binding: Binding) -> Iterator[ast.AST]:
    """The right-hand side of an assignment; of a change in place also what was there before."""
    statement = None if binding.parameter is not None else values.program.statement(binding.node)
    if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and statement.value is not None:
        yield statement.value
    changed: ast.AST | None = statement.target if isinstance(statement, ast.AugAssign) else None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        changed = statement.targets[0].value
    if isinstance(changed, ast.Name):
        for before in values.scope.reaching(changed):
            if before.node is not binding.node:
                yield from made_of(values, before)
