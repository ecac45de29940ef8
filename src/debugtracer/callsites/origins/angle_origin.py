"""Where an angle was written that a sine or cosine takes and that is larger than a full turn, as degrees are. The
source is read, nothing is executed."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import NamedTuple

from debugtracer.callsites.origins.handed_on import carrier
from debugtracer.callsites.origins.option_lines import literal
from debugtracer.callsites.origins.setting_origin import loaded, written
from debugtracer.callsites.origins.value_origin import Use, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

TAKES = frozenset({"cos", "sin", "tan"})
CONVERTS = frozenset({"deg2rad", *vars(math)})
"""Functions that make another number of an angle."""
MOST = 360.0  # degrees of a full turn
NUMBERS = 64  # numbers of the program that are tried (ours)


class Angle(NamedTuple):
    """One angle that was written out."""

    frame: Frame
    """The line of the number."""
    value: float
    function: str
    """What takes it."""


def angle_origin(program: Program, holder: ast.AST) -> Angle | None:
    """The first number of the program, beyond a full turn, that a sine or cosine in a class or function is given as it
    is, or a half turn less; None where each is reckoned from another unit."""
    nodes = [n for n in ast.walk(holder) if isinstance(n, ast.Call) and len(n.args) == 1]
    calls = sorted((n for n in nodes if final_name(n.func) in TAKES), key=lambda n: n.lineno)
    given = [(call, part) for call in calls for part in parts(call.args[0])]
    numbers = written_out(program) if given else []
    for call, part in given:
        use = Use(program, scope_at(program, call.lineno), part)
        own = literal(part)
        if own is not None and is_beyond(own):
            return Angle(use.frame(call), own, final_name(call.func))
        for number in numbers if own is None else ():
            frame = next(written(use, call.lineno, number), None)
            if frame is not None and is_given(frame, number):
                return Angle(frame, number, final_name(call.func))
    return None


def parts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the angle itself, or the terms of a sum of angles but pi."""
    node = carrier(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from parts(node.left)
        yield from parts(node.right)
    elif literal(node) is not None or (isinstance(node, (ast.Name, ast.Attribute)) and final_name(node) != "pi"):
        yield node


def written_out(program: Program) -> list[float]:
    """The different numbers of that size in the files of the program, those of this file first."""
    constants = (node for one in loaded(program) for node in one.every(ast.Constant))
    found = (literal(node) for node in constants)
    return list(dict.fromkeys(number for number in found if number is not None and is_beyond(number)))[:NUMBERS]


def is_beyond(number: float) -> bool:
    """Whether an angle is more than a full turn in radians, and at most one in degrees."""
    return math.tau < abs(number) <= MOST


def is_given(frame: Frame, number: float) -> bool:
    """Whether a line hands a number on as it is: not in a sum or product, nor to a function of mathematics."""
    program = program_of(frame.file)
    if program is None:
        return False
    here = [n for n in program.every(ast.Constant) if n.lineno == frame.line and n.value == number]
    for node in here[:1]:
        above = program.parents[node]
        above = program.parents[above] if isinstance(above, ast.UnaryOp) else above
        converted = isinstance(above, ast.Call) and final_name(above.func) in CONVERTS
        return not converted and not isinstance(above, ast.BinOp)
    return False
