"""The line by which a value with a graph goes from one turn of a loop to the next: read in the loop before it is
written, and still attached."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from torch import Tensor

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.callsites.origins.written_names import writes_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


def carried_at(frame: FrameType, line: int) -> Frame | None:
    """The first statement of the loops around a line that carries an attached tensor over; None where none does."""
    program = program_of(frame.f_code.co_filename)
    if program is None:
        return None
    scope = scope_at(program, line)
    held = locals_of(frame)
    found: list[int] = []
    for loop in loops_around(program, line):
        if program.function(loop) is scope:
            found += [at for name, at in carried(loop) if attached(held, name)]
    return as_frame(frame.f_code, min(found)) if found else None


def loops_around(program: Program, line: int) -> list[ast.For | ast.While]:
    """The loops that hold a line, innermost first."""
    around = [
        n for n in program.nodes if isinstance(n, (ast.For, ast.While)) and n.lineno <= line <= (n.end_lineno or 0)
    ]
    return around[::-1]


def carried(loop: ast.For | ast.While) -> Iterator[tuple[str, int]]:
    """Yield names that a turn of the loop reads before it writes them, with the line of the last write."""
    body = ast.Module(body=loop.body, type_ignores=[])
    read: dict[str, int] = {}
    for node in ast.walk(body):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            name = ast.unparse(node)
            read[name] = min(read.get(name, node.lineno), node.lineno)
    for name, first in read.items():
        written = [w for w in writes_of(body, name) if w.value is not None]
        if written and first <= written[0].node.lineno:
            yield name, written[-1].node.lineno


def attached(held: Mapping[str, Any], name: str) -> bool:
    """Whether a name holds a tensor with a graph, also in a tuple."""
    head, *rest = name.split(".")
    value = held.get(head)
    for attribute in rest:
        value = getattr(value, "__dict__", {}).get(attribute)
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return any(isinstance(part, Tensor) and part.grad_fn is not None for part in parts)
