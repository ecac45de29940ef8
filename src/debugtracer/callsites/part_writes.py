"""The line of the program that writes one number into a part of something: `label[:source_len] = IGNORE_INDEX`."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.option_lines import is_number
from debugtracer.callsites.origins.program_trees import programs_of
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_files import program_files
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


def part_write(number: int) -> Frame | None:
    """The only such line; None for none, and for several. Reads source."""
    programs = programs_of(program_files())
    names = {name for program in programs for name in constants(program, number)}
    lines = [at_line(program, line) for program in programs for line in writes(program, number, names)]
    return lines[0] if len(lines) == 1 else None


def constants(program: Program, number: int) -> list[str]:
    """The names that are given this number where it is written out."""
    given = [node for node in program.every(ast.Assign) if is_number(node.value, number)]
    return [name for node in given for target in node.targets if (name := final_name(target)) is not None]


def writes(program: Program, number: int, names: set[str]) -> list[int]:
    """The lines that write it, or one of these names, into a part of something."""
    return [
        node.lineno
        for node in program.every(ast.Assign)
        if any(isinstance(target, ast.Subscript) for target in node.targets)
        and (is_number(node.value, number) or final_name(node.value) in names)
    ]
