"""The lines that write a name in the other branch of the condition around a write of it. The source is read, nothing is
executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from debugtracer.callsites.origins.handed_on import kind_of
from debugtracer.callsites.origins.value_origin import Link, Use, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name, writes_of
from debugtracer.trace.birth import Frame

CLEANS = frozenset({"nan_to_num", "nan_to_num_", "fillna"})
"""Functions behind which no value is NaN."""


def other_branches(link: Link, spoils: Callable[[Use, int], bool] = lambda *_: False) -> Iterator[Link]:
    """Yield what the name that a line writes may have been written with instead: the nearest line in the text need not
    be the one that was executed. Nothing where an expression of its own branch `spoils` what it is given, and no line
    of another branch whose value is cleaned after it."""
    use = link.value
    if use is None or link.frame.file != str(use.program.path):
        return
    writes = (n for n in use.program.every(ast.Assign) if n.lineno == link.frame.line)
    statement = next(writes, None)
    if statement is None:
        return
    target = statement.targets[0]
    name = ast.unparse(target) if isinstance(target, (ast.Name, ast.Attribute)) else ""
    around = [above for above in use.program.above(statement) if isinstance(above, ast.If)]
    for condition in around[:2] if name else ():
        branches = (condition.body, condition.orelse)
        if any(
            spoils(one, line) for branch in branches if holds(branch, statement) for one, line in values(use, branch)
        ):
            return
        for branch in branches:
            if not holds(branch, statement):
                every = [w for one in branch for w in writes_of(one, name)]
                last = max((i for i, w in enumerate(every) if w.value is not None and cleaned(w.value)), default=-1)
                for other in every[last + 1 :]:
                    inner = Use(use.program, use.scope, other.value, use.above, other.part) if other.value else None
                    yield Link(use.frame(other.node), kind_of(other.value), inner)


def beside(frame: Frame, spoils: Callable[[Use, int], bool]) -> bool:
    """Whether a condition around a line has another branch in which an expression `spoils` what it is given."""
    program = program_of(frame.file)
    if program is None:
        return False
    scope = scope_at(program, frame.line)
    for node in (n for n in program.every(ast.If) if n.lineno < frame.line <= (n.end_lineno or 0)):
        if scope is None or program.function(node) is scope:
            use = Use(program, scope, node.test)
            apart = [one for one in (node.body, node.orelse) if one and not within(one, frame.line)]
            if any(spoils(one, line) for branch in apart for one, line in values(use, branch)):
                return True
    return False


def within(branch: list[ast.stmt], line: int) -> bool:
    """Whether a line belongs to a branch."""
    return branch[0].lineno <= line <= (branch[-1].end_lineno or 0)


def holds(branch: list[ast.stmt], statement: ast.stmt) -> bool:
    """Whether a statement stands in a branch."""
    return any(statement is node for one in branch for node in ast.walk(one))


def values(use: Use, branch: list[ast.stmt]) -> Iterator[tuple[Use, int]]:
    """Yield the expressions that a branch writes names with."""
    for node in (n for one in branch for n in ast.walk(one)):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            yield Use(use.program, use.scope, node.value, use.above), node.lineno


def cleaned(node: ast.expr) -> bool:
    """Whether an expression leaves no NaN in what it is given."""
    return any(isinstance(n, ast.Call) and final_name(n.func) in CLEANS for n in ast.walk(node))
