"""Where the user's source chooses a class of layers: the line that builds one, or the name that stands for it."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable

from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.trace.birth import Frame


def chosen_line(kind: str, files: Iterable[str]) -> Frame | None:
    """The first line of these files that speaks of a class (`nn.Sigmoid()`, `ACT = nn.Sigmoid`, `getattr(nn,
    "Sigmoid")`); None where none does. Reads source."""
    for file in dict.fromkeys(files):
        program = program_of(file)
        for node in program.nodes if program is not None else ():
            if program is not None and speaks_of(node, kind):
                line = getattr(node, "lineno", 1)
                scope = scope_at(program, line)
                name = scope.name if scope is not None else "<module>"
                return Frame(file, line, name, linecache.getline(file, line).strip())
    return None


def speaks_of(node: ast.AST, kind: str) -> bool:
    """Whether an expression is this class, by name or as a word."""
    if isinstance(node, ast.Attribute):
        return node.attr == kind
    if isinstance(node, ast.Name):
        return node.id == kind and isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Constant) and node.value == kind
