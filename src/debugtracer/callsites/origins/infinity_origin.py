"""Where the infinities were written that a difference in a helper function meets: `x - x.max()` of a row of -inf
only."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from debugtracer.callsites.origins.value_origin import argument_of, calls_at, program_of, scope_at
from debugtracer.callsites.origins.written_names import Function, parameters, writes_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

DEEP = 6  # assignments that are gone back through (ours)
INFINITE = ("inf", "-inf", "infinity", "-infinity")


def infinite_line(stack: Sequence[Frame]) -> Frame | None:
    """The nearest line of the program that writes an infinity into what the innermost of these lines subtracts, where
    that is given to its function; None where there is none."""
    program = program_of(stack[0].file) if len(stack) > 1 else None
    function = scope_at(program, stack[0].line) if program is not None else None
    if program is None or function is None:
        return None
    at = [n for n in ast.walk(function) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub)]
    named = [name for n in at if n.lineno <= stack[0].line <= (n.end_lineno or 0) for name in names_in(n.left)]
    given = [name for name in dict.fromkeys(named) if name in parameters(function)]
    caller = program_of(stack[1].file)
    if len(given) != 1 or caller is None:
        return None
    place = parameters(function).index(given[0]) - (parameters(function)[:1] == ["self"])
    passed = [argument_of(call, given[0], place) for call in calls_at(caller, stack[1].line, function.name)]
    values = [value for value in passed if value is not None]
    if len(values) != 1:
        return None
    return next(written_infinities(caller, scope_at(caller, stack[1].line), values[0]), None)


def written_infinities(program: Program, scope: Function | None, node: ast.expr) -> Iterator[Frame]:
    """Yield lines that write an infinity into a name which an expression is computed of, the nearest first; all writes
    of a name count, as one into a part leaves the rest."""
    level, seen = set(names_in(node)), set[str]()
    for _ in range(DEEP):
        following: set[str] = set()
        for name in sorted(level - seen):
            for write in writes_of(scope or program.tree, name):
                if program.function(write.node) is not scope:
                    continue
                if has_infinity(write.node):
                    yield line_of(program, scope, write.node)
                following |= set(names_in(write.value)) if write.value is not None else set()
        seen |= level
        level = following - seen


def has_infinity(node: ast.AST) -> bool:
    """Whether an infinity is written out in a statement: `float("-inf")`, `math.inf`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.lower() in INFINITE:
            return True
        if isinstance(part, ast.Attribute) and part.attr == "inf":
            return True
    return False


def names_in(node: ast.expr) -> list[str]:
    """The plain names in an expression, and attributes of `self`."""
    return [
        ast.unparse(n)
        for n in ast.walk(node)
        if (isinstance(n, ast.Name) and n.id != "self")
        or (isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self")
    ]


def line_of(program: Program, scope: Function | None, node: ast.stmt) -> Frame:
    """A statement as a line of the program."""
    name = scope.name if scope is not None else "<module>"
    return Frame(str(program.path), node.lineno, name, program.text.splitlines()[node.lineno - 1].strip())
