"""Whether a program has lines that build, or fill, another optimizer than those that it has built so far."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

FILLS = "add_param_group"
LOOPS = (ast.For, ast.AsyncFor, ast.While)
CHOICES = (ast.If, ast.IfExp, ast.Match, ast.Dict)
Call = tuple[Program, ast.Call]


def optimizers_to_come(kinds: Collection[str], built: Iterable[Frame], files: Sequence[str]) -> bool:
    """Whether another stage may train what no optimizer holds yet: a call of a class of optimizers, or of
    add_param_group, that is none of these lines and no alternative of one; or one of these lines in a loop, or in a
    function that is called in more places than it has built. Reads source."""
    programs = [program for file in dict.fromkeys(files) if (program := program_of(file)) is not None]
    lines = Counter((frame.file, frame.line) for frame in built)
    calls = [*calls_of({*kinds, FILLS}, programs)]
    ran = [(program, call, count) for program, call in calls if (count := times(lines, program, call))]
    known = {id(call) for _, call, _ in ran}
    chosen = {id(above) for program, call, _ in ran for above in program.above(call) if isinstance(above, CHOICES)}
    for program, call in calls:
        if id(call) not in known and not any(id(above) in chosen for above in program.above(call)):
            return True
    return any(comes_again(program, call, count, programs) for program, call, count in ran)


def calls_of(names: Collection[str], programs: Iterable[Program]) -> Iterable[Call]:
    """Yield the calls of these names, in the order of the text."""
    for program in programs:
        yield from ((program, call) for call in program.every(ast.Call) if final_name(call.func) in names)


def times(lines: Counter[tuple[str, int]], program: Program, call: ast.Call) -> int:
    """How many optimizers were built by this call, as far as its lines tell."""
    last = call.end_lineno or call.lineno
    return sum(lines[str(program.path), line] for line in range(call.lineno, last + 1))


def comes_again(program: Program, call: ast.Call, count: int, programs: Sequence[Program]) -> bool:
    """Whether a line that has built so many is in a loop, or its function is called in a loop or in more places."""
    if in_loop(program, call):
        return True
    maker = program.function(call)
    name = getattr(maker, "name", "")
    if not name or name.startswith("__"):
        return False
    callers = [*calls_of({name}, programs)]
    return len(callers) > count or any(in_loop(*one) for one in callers)


def in_loop(program: Program, call: ast.Call) -> bool:
    """Whether a loop of its own function is around a call."""
    for above in program.above(call):
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        if isinstance(above, LOOPS):
            return True
    return False
