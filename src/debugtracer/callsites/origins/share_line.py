"""Which line gives an average of weights its share: the constant, the option, or the line that computes it. The source
is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.option_lines import literal
from debugtracer.callsites.origins.setting_origin import at_line, written
from debugtracer.callsites.origins.value_origin import Use, last_write, program_of, scope_at
from debugtracer.callsites.origins.written_names import Function, final_name, returns
from debugtracer.trace.birth import Frame

WEIGHED = {"lerp": 2, "lerp_": 1, "mul_": 0}  # calls, and where their number stands
MOST = 3  # names that are gone back through (ours)


def share_line(stack: Sequence[Frame], kept: float) -> Frame | None:
    """The line behind the number on the innermost of these lines, where `kept` is the weight of the copy; None where it
    stands there or cannot be followed."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return None
    line, scope = stack[0].line, scope_at(program, stack[0].line)
    asked = [n for n in program.nodes if getattr(n, "lineno", 0) <= line <= (getattr(n, "end_lineno", 0) or 0)]
    for node in [*rests(asked), *weights(asked)]:
        found = behind(Use(program, scope, node, tuple(stack[1:])), line, kept)
        if found is not None and (found.file, found.line) != (stack[0].file, line):
            return found
    return None


def rests(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """Yield `x` of each `1 - x`."""
    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and literal(node.left) == 1:
            yield node.right


def weights(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """Yield the numbers of calls that weigh."""
    for node in nodes:
        place = WEIGHED.get(final_name(node.func)) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and place is not None and len(node.args) > place:
            yield node.args[place]


def behind(use: Use, line: int, kept: float) -> Frame | None:
    """The line that gives an expression its number: of a call that of what it returns."""
    for _ in range(MOST):
        node = use.node
        rest = next(rests([node]), None)
        if rest is not None:
            use = Use(use.program, use.scope, rest, use.above)
        elif isinstance(node, ast.Call):
            return returned(use, node, kept)
        elif isinstance(node, ast.Name) and (last := last_write(use.program, use.scope, node.id, line)) is not None:
            if last.value is None or literal(last.value) is not None or last.part is not None:
                break
            if not isinstance(last.value, ast.Call) and next(rests([last.value]), None) is None:
                break
            use, line = Use(use.program, use.scope, last.value, use.above), last.node.lineno
        else:
            break
    return number_line(use, line, kept)


def number_line(use: Use, line: int, kept: float) -> Frame | None:
    """The line of a plain name: of the weight of the copy, or of the share itself."""
    if not isinstance(use.node, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    return next((frame for number in (kept, 1 - kept) for frame in written(use, line, number)), None)


def returned(use: Use, call: ast.Call, kept: float) -> Frame | None:
    """The line of what a function of the program returns: of several the only one that takes a maximum, else the only
    plain name that has the number; the call where it is none of the program's."""
    called = called_function(use.program, use.scope, call, program_of)
    if called is None:
        return use.frame(call)
    program, function = called
    given = [one for one in returns(program, function) if one.value is not None]
    if len(given) == 1 and not isinstance(given[0].value, (ast.Name, ast.Attribute)):
        return at_line(program, given[0].lineno)
    largest = [one for one in given if isinstance(one.value, ast.Call) and final_name(one.value.func) == "max"]
    if len(largest) == 1:
        return at_line(program, largest[0].lineno)
    uses = [Use(program, function, one.value) for one in given if one.value is not None]
    found = [line for one in uses if (line := number_line(one, program_end(function), kept)) is not None]
    return found[0] if len(found) == 1 else use.frame(call)


def program_end(function: Function) -> int:
    """The line after a function."""
    return (function.end_lineno or function.lineno) + 1
