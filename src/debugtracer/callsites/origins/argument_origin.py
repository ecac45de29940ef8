"""Where the value that a call on a line is given was last written."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from debugtracer.callsites.origins.handed_on import copies, kind_of
from debugtracer.callsites.origins.value_origin import Link, Use, argument_of, chain, is_own, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


def object_built(stack: Sequence[Frame], kind: str) -> Frame | None:
    """The line that built the object of that class which the innermost of these lines calls (`criterion(...)`); None
    where it cannot be followed there."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return None
    line, scope = stack[0].line, scope_at(program, stack[0].line)
    for node in program.nodes:
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno):
            links = chain(Use(program, scope, node.func, tuple(stack[1:])), line)
            if links and f"{kind}(" in links[-1].frame.code:
                return links[-1].frame
    return None


def argument_origin(stack: Sequence[Frame], called: Collection[str], parameter: str, place: int) -> tuple[Link, ...]:
    """The lines that wrote the argument of the call on the innermost of these lines: of a function of that name, else
    of the only call there that has such an argument."""
    program = program_of(stack[0].file) if stack else None
    if program is None:
        return ()
    line = stack[0].line
    calls = calls_on(program, line)
    given = [(c, value) for c in calls if (value := argument_of(c, parameter, place)) is not None]
    exact = [value for c, value in given if final_name(c.func) in called] or [value for _, value in given]
    if len(exact) != 1:
        return ()
    use = Use(program, scope_at(program, line), exact[0], tuple(stack[1:]))
    kind = "handed" if is_own(program, use.scope, exact[0]) else kind_of(exact[0])
    here = (Link(use.frame(exact[0]), kind),) if kind != "handed" else ()
    return (*here, *chain(use, line))


def calls_on(program: Program, line: int) -> list[ast.Call]:
    """The calls that a line belongs to."""
    return [n for n in program.every(ast.Call) if n.lineno <= line <= (n.end_lineno or n.lineno)]


def given_to(program: Program, line: int, called: str, parameter: str, place: int) -> ast.expr | None:
    """The argument of the only call of a function of that name on a line; None where there is none or several."""
    asked = [call for call in calls_on(program, line) if final_name(call.func) == called]
    given = [argument_of(call, parameter, place) for call in asked]
    known = [value for value in given if value is not None]
    return known[0] if len(known) == 1 else None


def copied_at(links: Sequence[Link]) -> Frame | None:
    """The last line that takes the value as a copy of another one; None where no line copies."""
    return next((link.frame for link in links if link.value is not None and copies(link.value.node)), None)
