"""Which line of a hand-written backward computes the gradient of one input."""

from __future__ import annotations

import ast
from types import CodeType

from debugtracer.callsites.origins.handed_on import kind_of
from debugtracer.callsites.origins.sample_origin import function_at
from debugtracer.callsites.origins.value_origin import last_write, program_of
from debugtracer.callsites.origins.written_names import Function, Written, part_of, returns
from debugtracer.source.program import Program

DEEP = 4  # assignments that only hand values on (ours)


def gradient_line(code: CodeType, place: int) -> int | None:
    """The last line that computes the gradient which a backward returns for the input at a place; None where the return
    itself does, or nothing can be followed."""
    program = program_of(code.co_filename)
    function = function_at(program, code) if program is not None else None
    if program is None or function is None:
        return None
    given = [r for r in returns(program, function) if isinstance(r, ast.Return) and r.value is not None]
    if len(given) != 1 or given[0].value is None:
        return None
    value = given[0].value
    node = part_of(value, place) if isinstance(value, ast.Tuple) else value if place == 0 else None
    return computed(program, function, node, given[0].lineno)


def computed(program: Program, function: Function, node: ast.expr | None, line: int) -> int | None:
    """The last of the lines that compute what an expression hands on; a part that is picked out is made by what picks
    as much as by what it is picked from."""
    found: int | None = None
    for _ in range(DEEP):
        if node is None or kind_of(node) != "handed":
            return found
        written = [w for name in names_in(node) if (w := last_write(program, function, name, line)) is not None]
        if not written:
            return found
        last = max(written, key=lambda w: w.node.lineno)
        if is_made(last) or last.value is None:
            return int(last.node.lineno)
        found, node, line = last.node.lineno, last.value, last.node.lineno
    return found


def is_made(written: Written) -> bool:
    """Whether a line computes a value of its own."""
    return written.value is not None and kind_of(written.value) != "handed"


def names_in(node: ast.expr) -> list[str]:
    """The plain names in an expression, each once."""
    return list(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))
