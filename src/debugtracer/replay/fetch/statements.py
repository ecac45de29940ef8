"""The statement of the user's that stands on a line, and the names that it reads or writes."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from types import CodeType

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.source.program import Program

HEADERS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try)
"""Statements that hold others: only their first lines are their own."""


@dataclass(frozen=True)
class Statement:
    """One statement in its file; of a lambda its body."""

    program: Program
    node: ast.AST
    names: tuple[str, ...]
    """What it reads or writes: `x`, `self.table`."""

    @property
    def line(self) -> int:
        """The number of its first line."""
        return int(getattr(self.node, "lineno", 1))

    @property
    def one_line(self) -> bool:
        """Whether it stands on one line, so that a second event of the line is a second run of it."""
        return int(getattr(self.node, "end_lineno", 0)) == self.line


@functools.lru_cache(4096)
def statement_at(code: CodeType, line: int) -> Statement | None:
    """The innermost statement of a function on one of its lines; None where the source cannot be read."""
    program = program_of(code.co_filename)
    if program is None:
        return None
    if code.co_name == "<lambda>":
        found = [n for n in program.every(ast.Lambda) if n.lineno <= line <= (n.end_lineno or 0)]
        return Statement(program, found[-1].body, names_in(found[-1].body)) if found else None
    around = [
        n
        for n in program.nodes
        if isinstance(n, ast.stmt)
        and not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and n.lineno <= line <= last_line(n)
    ]
    if not around:
        return None
    node = max(around, key=lambda n: (n.lineno, n.col_offset))
    return Statement(program, node, names_in(*own_parts(node)))


def last_line(node: ast.stmt) -> int:
    """The last line that is a statement's own."""
    if isinstance(node, HEADERS):
        body: list[ast.stmt] = node.body
        return max(node.lineno, body[0].lineno - 1) if body[0].lineno > node.lineno else node.lineno
    return node.end_lineno or node.lineno


def own_parts(node: ast.stmt) -> list[ast.AST]:
    """The expressions of a statement without the statements that it holds."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [node.target, node.iter]
    if isinstance(node, (ast.While, ast.If)):
        return [node.test]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return list(node.items)
    return [] if isinstance(node, ast.Try) else [node]


def names_in(*parts: ast.AST) -> tuple[str, ...]:
    """The names in these expressions, with an attribute behind them; not the methods that are called."""
    called = {id(n.func) for part in parts for n in ast.walk(part) if isinstance(n, ast.Call)}
    found: dict[str, None] = {}
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute) and id(node) not in called and isinstance(node.value, ast.Name):
                found.setdefault(ast.unparse(node))
            elif isinstance(node, ast.Name):
                found.setdefault(node.id)
    return tuple(found)
