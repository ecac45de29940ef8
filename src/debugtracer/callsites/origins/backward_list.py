"""Whether a list that a line is given was filled from the end of another one, and never turned round."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.argument_origin import calls_on
from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.value_origin import Use, argument_of, program_of, scope_at
from debugtracer.callsites.origins.written_names import Function, final_name, names_in, returns, writes_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

CONVERSIONS = frozenset({"list", "tuple", "array", "asarray"})
TURNS = frozenset({"reverse", "sort", "rotate", "insert", "appendleft"})


def filled_from_the_end(stack: Sequence[Frame], function: str) -> Frame | None:
    """The line that appends to the list which a function on the innermost line is given: in a loop over a reversed
    sequence that carries a sum along, `total = reward + keep * total`. None where the list is turned round, or where
    that cannot be told."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return None
    line = stack[0].line
    given = [argument_of(call, "data", 0) for call in calls_on(program, line) if final_name(call.func) == function]
    return made_by(program, scope_at(program, line), given[0], line) if len(given) == 1 and given[0] else None


def made_by(program: Program, scope: Function | None, node: ast.expr, line: int, depth: int = 2) -> Frame | None:
    """The appending line of an expression, followed into the function that returns it."""
    while isinstance(node, ast.Call) and final_name(node.func) in CONVERSIONS and len(node.args) == 1:
        node = node.args[0]
    if isinstance(node, ast.Call):
        called = called_function(program, scope, node, program_of) if depth else None
        ends = returns(*called) if called is not None else []
        value = ends[0].value if len(ends) == 1 else None
        return made_by(*called, value, ends[0].lineno, depth - 1) if called and isinstance(value, ast.expr) else None
    if not isinstance(node, ast.Name):
        return None
    holder: ast.AST = scope or program.tree
    written = [w for w in writes_of(holder, node.id) if program.function(w.node) is scope and w.node.lineno < line]
    last = next((w for w in reversed(written) if isinstance(w.node, (ast.Assign, ast.AnnAssign))), None)
    if (
        last is not None
        and isinstance(last.value, ast.Call)
        and called_function(program, scope, last.value, program_of)
    ):
        return made_by(program, scope, last.value, last.node.lineno, depth - 1) if depth else None
    begin = last.node.lineno if last is not None else 0
    loops = [n for n in ast.walk(holder) if isinstance(n, ast.For) and begin < n.lineno < line]
    found = [at for loop in loops if program.function(loop) is scope and (at := append_in(loop, node.id)) is not None]
    if len(found) != 1 or turned(holder, node.id):
        return None
    return Use(program, scope, found[0]).frame(found[0])


def append_in(loop: ast.For, name: str) -> ast.expr | None:
    """The call that appends to a list what a loop from the end carries along."""
    if not from_the_end(loop.iter):
        return None
    body = [n for statement in loop.body for n in ast.walk(statement)]
    carried = {
        target.id
        for n in body
        if isinstance(n, ast.Assign)
        for target in n.targets
        if isinstance(target, ast.Name) and target.id in names_in(n.value)
    }
    calls = [n for n in body if isinstance(n, ast.Call) and ast.unparse(n.func) == f"{name}.append" and n.args]
    return next((call for call in calls if names_in(call.args[0]) & carried), None)


def from_the_end(node: ast.expr) -> bool:
    """True for `reversed(x)`, `x[::-1]` and `range(n, -1, -1)`."""
    if isinstance(node, ast.Call):
        name = final_name(node.func)
        down = name == "range" and len(node.args) == 3 and is_minus_one(node.args[2])
        inner = name in ("enumerate", "list") and len(node.args) == 1 and from_the_end(node.args[0])
        return name == "reversed" or down or inner
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and is_minus_one(node.slice.step)


def is_minus_one(node: ast.expr | None) -> bool:
    """True for the number -1 as it is written."""
    return node is not None and ast.unparse(node) == "-1"


def turned(holder: ast.AST, name: str) -> bool:
    """Whether a piece of source turns a list round, or puts something at its begin."""
    calls = (n.func for n in ast.walk(holder) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return any(f.attr in TURNS and ast.unparse(f.value) == name for f in calls) or any(
        isinstance(n, (ast.Subscript, ast.Call)) and from_the_end(n) and name in names_in(n) for n in ast.walk(holder)
    )
