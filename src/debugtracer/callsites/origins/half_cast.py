"""The line that made the weights of an optimizer half-precision ones: a cast of the model, or the dtype of a load."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

CASTS = frozenset({"bfloat16", "half"})
HALF = frozenset({"bfloat16", "float16", "half"})
DTYPES = frozenset({"dtype", "torch_dtype"})


def half_cast(stack: Sequence[Frame]) -> Frame | None:
    """The only cast, before the call on the innermost of these lines, of a name that stands in the call; None where
    there is none, or several."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return None
    line = stack[0].line
    calls = [n for n in program.every(ast.Call) if n.lineno <= line <= (n.end_lineno or n.lineno)]
    given = {n.id for call in calls for n in ast.walk(call) if isinstance(n, ast.Name)}
    casts = [call for call in program.every(ast.Call) if is_cast(call) and call.lineno <= line]
    found = {last_line(call) for call in casts if given & set(names_of(program, call))}
    return at_line(program, found.pop()) if len(found) == 1 else None


def last_line(call: ast.Call) -> int:
    """The line of the name that casts: a chain of calls goes over several."""
    return getattr(call.func, "end_lineno", None) or call.lineno


def is_cast(call: ast.Call) -> bool:
    """Whether a call gives something half-precision back."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    values = [*call.args, *(word.value for word in call.keywords if word.arg in DTYPES)]
    if name in CASTS:
        return not call.args
    given = values if name == "to" else values[len(call.args) :]
    return name != "autocast" and any(isinstance(value, ast.Attribute) and value.attr in HALF for value in given)


def names_of(program: Program, call: ast.Call) -> Iterator[str]:
    """Yield the name that is cast, and those that the result is written to."""
    node: ast.AST = call.func
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name):
        yield node.id
    statement = program.statement(call)
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))
