"""The line of one argument in a call that is written over several lines. The source is read, nothing is executed."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.value_origin import Use, program_of, scope_at
from debugtracer.trace.birth import Frame


def keyword_line(call: Frame, keyword: str) -> Frame:
    """The line on which the only call at a line that gives this keyword writes it; the line of the call where none
    does, or where the source cannot be read."""
    program = program_of(call.file)
    if program is None:
        return call
    calls = [n for n in program.every(ast.Call) if n.lineno <= call.line <= (n.end_lineno or 0)]
    given = [one for node in calls for one in node.keywords if one.arg == keyword]
    if len(given) != 1 or given[0].value.lineno == call.line:
        return call
    return Use(program, scope_at(program, call.line), given[0].value).frame(given[0].value)
