"""The contract of a pattern: one way in which source code loses its numbers, looked for in a file that is read and not
executed."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from debugtracer.plugins import members
from debugtracer.source.source import Source

Severity = Literal["note", "warning"]


@dataclass(frozen=True)
class Hit:
    """One place. The message has the grammar `file:line - what was seen - what was expected - what to do`."""

    pattern: str
    severity: Severity
    file: str
    line: int
    message: str


@dataclass(frozen=True)
class Pattern:
    """Base of all patterns. The docstring says what it catches and why it is true of PyTorch; a guarded twin stays
    silent."""

    needs_torch: ClassVar[bool] = True
    """Only files that import torch are looked at."""

    def find(self, source: Source) -> Iterator[Hit]:
        """The places in one file, in any order."""
        raise NotImplementedError

    @property
    def slug(self) -> str:
        """The name of the pattern, from the file of its class."""
        return type(self).__module__.rpartition(".")[2].replace("_", "-")

    def hit(self, source: Source, node: ast.AST, seen: str, expected: str, remedy: str, *, note: bool = False) -> Hit:
        """A hit at the line of a node; a note where only special data, or nothing of the training, can suffer."""
        line = int(getattr(node, "lineno", 1))
        file = str(source.program.path)
        return Hit(
            self.slug,
            "note" if note else "warning",
            file,
            line,
            f"{file}:{line} - {seen} - expected {expected} - {remedy}",
        )


@functools.cache
def patterns() -> dict[str, Pattern]:
    """Every pattern by its slug. The folder is the registry."""
    import debugtracer.source.patterns

    return members(debugtracer.source.patterns, Pattern)
