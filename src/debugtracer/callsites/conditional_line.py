"""Whether a line is executed only while a condition holds. Reads source."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.trace.birth import Frame

SWITCH = "set_grad_enabled"


def conditional_line(frames: Iterable[Frame]) -> bool:
    """Whether a condition stands around one of these lines, in its own function, or chooses the context it runs in: the
    next round of the loop may go another way."""
    for frame in frames:
        program = program_of(frame.file)
        if program is not None and any(decides(node, frame.line) for node in program.nodes):
            return True
    return False


def decides(node: ast.AST, line: int) -> bool:
    """Whether a node is a condition around a line that lies in the same function."""
    if not isinstance(node, (ast.If, ast.IfExp, ast.With)) or not node.lineno <= line <= (node.end_lineno or 0):
        return False
    if any(isinstance(a, (ast.FunctionDef, ast.AsyncFunctionDef)) and holds(a, line) for a in ast.walk(node)):
        return False
    if isinstance(node, ast.With):
        return any(chosen(item.context_expr) for item in node.items)
    return "__name__" not in ast.unparse(node.test) and varies(node.test)


def chosen(context: ast.expr) -> bool:
    """Whether a condition chooses a context: `no_grad() if frozen else nullcontext()`, or one that is switched."""
    if isinstance(context, ast.Call) and ast.unparse(context.func).endswith(SWITCH):
        return bool(context.args) and varies(context.args[0])
    return isinstance(context, ast.IfExp)


def varies(test: ast.expr) -> bool:
    """Whether a condition reads anything that may change."""
    return any(isinstance(n, (ast.Name, ast.Attribute)) for n in ast.walk(test))


def holds(function: ast.AST, line: int) -> bool:
    """Whether a function around a line begins below its condition."""
    return getattr(function, "lineno", 0) <= line <= (getattr(function, "end_lineno", None) or 0)
