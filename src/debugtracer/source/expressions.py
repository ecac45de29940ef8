"""The expressions of one file, each worked out once; loops and chains without end are cut."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod

from debugtracer.source.names import Names
from debugtracer.source.program import Program
from debugtracer.source.scope import Scope
from debugtracer.source.value import UNKNOWN, Value

DEEP = 40  # expressions followed from one to the next
BUDGET = 50_000  # expressions a file may cost


class Expressions(ABC):
    """What is known of the expressions of a file; `worked_out` says how one is worked out from its parts."""

    def __init__(self, program: Program) -> None:
        self.program, self.names, self.scope = program, Names(program), Scope(program)
        self.known: dict[int, Value] = {}
        self.busy: set[int] = set()
        self.asked = self.cut = 0

    def of(self, node: ast.AST) -> Value:
        """What is known of this expression."""
        key = id(node)
        if key in self.known:
            return self.known[key]
        if len(self.busy) > DEEP or self.asked > BUDGET:
            # too far to follow; the answers above it are kept as they are, so that a long chain costs its length
            return UNKNOWN
        if key in self.busy:
            self.cut += 1
            return UNKNOWN  # a loop: the answers inside it hold only for this way around
        self.asked += 1
        cut = self.cut
        self.busy.add(key)
        try:
            found = self.worked_out(node)
        except (OverflowError, ValueError, ZeroDivisionError):
            found = UNKNOWN
        finally:
            self.busy.discard(key)
        if not self.busy or cut == self.cut:
            self.known[key] = found
        return found

    @abstractmethod
    def worked_out(self, node: ast.AST) -> Value:
        """What is known of an expression that is asked for the first time."""
