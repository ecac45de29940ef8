"""Whether what a line computes is only told: printed, written to a log, or returned to lines that do so. The source is
read, nothing is executed."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.callsites.origins.written_names import Function, final_name
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

TELLS = frozenset({
    "print", "write", "info", "debug", "warning", "error", "log", "add_scalar", "add_scalars", "add_histogram",
    "log_metric", "log_metrics", "set_postfix", "set_description", "writerow", "text", "title", "plot",
})  # fmt: skip
"""Functions that show or keep a number for people."""
HOPS = 3  # names and functions that a value is followed through (ours)


def only_told(frame: Frame) -> bool:
    """True where the value of a line goes nowhere but to people; False where that is not known."""
    program = program_of(frame.file)
    if program is None:
        return False
    inside = [n for n in program.nodes if isinstance(n, ast.stmt) and n.lineno <= frame.line <= (n.end_lineno or 0)]
    simple = [n for n in inside if not hasattr(n, "body")]
    return bool(simple) and tells(program, simple[-1], scope_at(program, frame.line), HOPS)


def tells(program: Program, statement: ast.AST | None, scope: Function | None, hops: int) -> bool:
    """Whether a statement only tells what it computes."""
    if hops == 0:
        return False
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and final_name(statement.value.func) in TELLS
    if isinstance(statement, ast.Return) and scope is not None:
        method = program.owner(scope) is not None  # `np.log` is no call of a function log
        calls = [
            n
            for n in program.nodes
            if isinstance(n, ast.Call) and final_name(n.func) == scope.name and (method or isinstance(n.func, ast.Name))
        ]
        return bool(calls) and all(used_to_tell(program, one, hops) for one in calls)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id
        reads = [
            n
            for n in program.nodes
            if isinstance(n, ast.Name)
            and n.id == name
            and isinstance(n.ctx, ast.Load)
            and (scope is None or program.function(n) is scope)
        ]
        return bool(reads) and all(used_to_tell(program, one, hops) for one in reads)
    return False


def used_to_tell(program: Program, node: ast.AST, hops: int) -> bool:
    """Whether the statement around an expression only tells it."""
    statement = next((above for above in program.above(node) if isinstance(above, ast.stmt)), None)
    return tells(program, statement, scope_at(program, getattr(node, "lineno", 0)), hops - 1)
