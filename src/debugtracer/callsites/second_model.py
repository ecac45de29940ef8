"""The line that makes a model a second time: what was built before it holds the first."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

Call = tuple[Program, ast.Call]


def second_model(kind: type, files: Sequence[str]) -> Frame | None:
    """Return the last of several lines of one function that call the class, or the only function that makes one; None
    where one line does, or where the lines stand in several functions. Reads source."""
    programs = [program for file in dict.fromkeys(files) if (program := program_of(file)) is not None]
    calls = calls_of(kind.__name__, programs)
    maker = calls[0][0].function(calls[0][1]) if len(calls) == 1 else None
    if maker is not None:
        calls = calls_of(getattr(maker, "name", ""), programs)
    if len(calls) < 2:
        return None
    makers = {program.function(call) for program, call in calls}
    if len(makers) != 1 or len({program.path for program, _ in calls}) != 1:
        return None
    program, last = max(calls, key=lambda one: one[1].lineno)
    file, line = str(program.path), last.lineno
    return Frame(file, line, getattr(makers.pop(), "name", "<module>"), linecache.getline(file, line).strip())


def calls_of(name: str, programs: Sequence[Program]) -> list[Call]:
    """The calls of a name whose result is kept, in the order of the text."""
    return [
        (program, node)
        for program in programs
        for node in program.nodes
        if isinstance(node, ast.Call) and final_name(node.func) == name and is_kept(program, node)
    ]


def is_kept(program: Program, call: ast.Call) -> bool:
    """Whether a statement gives the result to a name, or returns it."""
    return isinstance(program.statement(call), (ast.Assign, ast.AnnAssign, ast.Return))
