"""The lines that wrote a number of the program which is NaN or Inf and went into an op."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from types import FrameType
from typing import Any

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.literal_writes import nonfinite
from debugtracer.callsites.origins.option_lines import literal
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import made_first, origin, program_of, scope_at
from debugtracer.callsites.origins.written_names import Function, writes_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


def number_lines(frames: tuple[Frame, ...], live: FrameType | None) -> tuple[Frame, ...]:
    """Follow the only name on the line of the op that holds such a number, while its function runs; once it has
    returned, a name that is written once, as Inf or NaN. Nothing of the program is called."""
    if not frames:
        return ()
    at = frames[0]
    program = program_of(at.file)
    if program is None:
        return ()
    running = running_at(at, live)
    names = dict.fromkeys(read_at(program, scope_at(program, at.line), at.line))
    if running is None:
        return next(filter(None, (written_out(program, name) for name in names)), ())
    bad = [name for name in names if not finite(value_of(running, name))]
    if len(bad) != 1:
        return ()
    return (computed(program, bad[0]) if "." in bad[0] else ()) or made_first(origin(bad[0], frames))


def computed(program: Program, name: str) -> tuple[Frame, ...]:
    """The only line of the file that computes what an attribute holds, beside those that write a number out."""
    written = [one for one in writes_of(program.tree, name) if one.value is None or literal(one.value) is None]
    return (at_line(program, written[0].node.lineno),) if len(written) == 1 else ()


def written_out(program: Program, name: str) -> tuple[Frame, ...]:
    """The only line of the file that writes a name, where it writes Inf or NaN itself."""
    written = writes_of(program.tree, name)
    return (at_line(program, written[0].node.lineno),) if len(written) == 1 and nonfinite(written[0].value) else ()


def running_at(at: Frame, live: FrameType | None) -> FrameType | None:
    """The running frame of the function of a line."""
    while live is not None:
        here = as_frame(live.f_code, live.f_lineno)
        if (here.file, here.function) == (at.file, at.function):
            return live
        live = live.f_back
    return None


def read_at(program: Program, scope: Function | None, line: int) -> Iterator[str]:
    """Yield the names and attributes of names that the statement at a line reads."""
    for node in ast.walk(scope if scope is not None else program.tree):
        plain = isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
        if plain and isinstance(getattr(node, "ctx", None), ast.Load) and getattr(node, "lineno", 0) == line:
            yield ast.unparse(node)


def value_of(running: FrameType, name: str) -> Any:
    """What a name of a running frame holds, or an attribute that stands in the object itself; None where unknown."""
    owner, _, attribute = name.partition(".")
    value = locals_of(running).get(owner, running.f_globals.get(owner))
    return getattr(value, "__dict__", {}).get(attribute) if attribute else value


def finite(value: Any) -> bool:
    """False for a number of Python or NumPy that is NaN or Inf; a tensor is none."""
    scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0 and value.dtype.kind == "f"
    return math.isfinite(value) if scalar or isinstance(value, float) else True
