"""One file of the user's program: its tree, who holds whom in it, and the classes and functions it defines. Nothing of
it is executed."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from debugtracer.source.uncollected import uncollected

Function = ast.FunctionDef | ast.AsyncFunctionDef
Block = tuple[int, str]  # the node that holds a list of statements, by id, and the field
Node = TypeVar("Node", bound=ast.AST)
BIG_BYTES = 2_000_000  # a larger file is data, not a program


@dataclass(frozen=True)
class Program:
    """A parsed file."""

    path: Path
    text: str = field(repr=False)
    tree: ast.Module = field(repr=False)
    parents: dict[ast.AST, ast.AST] = field(repr=False)
    nodes: list[ast.AST] = field(repr=False)
    """All nodes in the order of the text."""
    classes: dict[str, ast.ClassDef] = field(repr=False)
    functions: dict[str, Function] = field(repr=False)
    """Those of the module, not methods."""

    @functools.cached_property
    def by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        """The nodes of each class, in the order of the text."""
        found: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            found[type(node)].append(node)
        return found

    def every(self, kind: type[Node]) -> list[Node]:
        """The nodes of one class, in the order of the text."""
        return self.by_kind.get(kind, [])  # type: ignore[return-value]  # under its own class

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that hold this one, nearest first."""
        while (above := self.parents.get(node)) is not None:
            yield above
            node = above

    def function(self, node: ast.AST) -> Function | ast.Lambda | None:
        """The innermost function around this node, None at module level."""
        return next(
            (a for a in self.above(node) if isinstance(a, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))), None
        )

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The class whose method this node is in."""
        return next((a for a in self.above(node) if isinstance(a, ast.ClassDef)), None)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement this node is part of."""
        return (
            node if isinstance(node, ast.stmt) else next((a for a in self.above(node) if isinstance(a, ast.stmt)), None)
        )

    def blocks(self, node: ast.AST) -> Iterator[tuple[list[ast.stmt], ast.stmt]]:
        """Yield the lists of statements around a node, innermost first, each with the statement in it, up to its
        function."""
        current = self.statement(node)
        while current is not None:
            holder = self.parents.get(current)
            if holder is None:
                return
            yield next(block for block in lists(holder) if current in block), current
            if not isinstance(holder, ast.stmt) and not isinstance(holder, (ast.ExceptHandler, ast.match_case)):
                return
            if isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                return
            current = self.statement(holder)

    def shown(self, node: ast.AST, most: int = 60) -> str:
        """An expression on one line, cut when it is long."""
        return shown(node, most)


def shown(node: ast.AST, most: int = 60) -> str:
    """An expression on one line, cut when it is long."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def lists(holder: ast.AST) -> list[list[ast.stmt]]:
    """The lists of statements a node holds."""
    found = [
        getattr(holder, name)
        for name in ("body", "orelse", "finalbody")
        if isinstance(getattr(holder, name, None), list)
    ]
    return found


def parse(path: Path, data: bytes) -> Program | None:
    """The file as a tree; None if it is no Python 3 that this Python reads."""
    try:
        with uncollected():
            tree = ast.parse(data)
            text = data.decode("utf-8", errors="replace")
            parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
            nodes = sorted(ast.walk(tree), key=place)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    functions = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    return Program(path, text, tree, parents, nodes, classes, functions)


def place(node: ast.AST) -> tuple[int, int]:
    """Where a node begins."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def methods(owner: ast.ClassDef) -> dict[str, Function]:
    """The methods of a class by name."""
    return {n.name: n for n in owner.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
