"""The line of the program that cuts texts at a length which an object or a function holds: `ids[:self.max_len]`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from debugtracer.callsites.origins.program_trees import programs_of
from debugtracer.callsites.origins.setting_origin import written
from debugtracer.callsites.origins.value_origin import Use, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_files import program_files
from debugtracer.callsites.stored_entries import Held
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


class TextCut(NamedTuple):
    """A line that cuts, at which length, and where that number is written."""

    frame: Frame
    limit: int
    written: Frame | None


def text_cut(held: Iterable[Held], tokens: int) -> TextCut | None:
    """The only slice of the program that ends at a whole number of this name which lets so many tokens pass; None for
    none, and for several. Reads source."""
    limits = {one.name: one.value for one in held if type(one.value) is int and tokens <= one.value}
    programs = programs_of(program_files())
    found = [(program, end) for program in programs for end in ends_of(program) if final_name(end) in limits]
    if len({final_name(end) for _, end in found}) != 1:
        return None
    program, end = found[0]
    use, limit = Use(program, scope_at(program, end.lineno), end), limits[str(final_name(end))]
    return TextCut(use.frame(end), limit, next(written(use, end.lineno, limit), None))


def ends_of(program: Program) -> list[ast.expr]:
    """The names at which slices from the first element on end."""
    slices = [node.slice for node in program.every(ast.Subscript) if isinstance(node.slice, ast.Slice)]
    first = [one.upper for one in slices if one.lower is None and one.step is None]
    return [end for end in first if isinstance(end, (ast.Name, ast.Attribute))]
