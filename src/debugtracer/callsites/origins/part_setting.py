"""Which lines of the program set an attribute of the dataset behind a part of it: `valid.dataset.transform = ...`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

WHOLE = "dataset"  # the attribute of torch's Subset that holds what it is a part of


def part_settings(programs: Iterable[Program]) -> dict[str, tuple[Frame, Frame]]:
    """The first and the last line that set each attribute, where two lines set it to different values through
    different parts."""
    written: dict[str, list[tuple[str, str, Frame]]] = {}
    for program in programs:
        for node in program.nodes:
            for target in node.targets if isinstance(node, ast.Assign) else ():
                if isinstance(node, ast.Assign) and isinstance(target, ast.Attribute):
                    whole = target.value
                    if isinstance(whole, ast.Attribute) and whole.attr == WHOLE:
                        one = ast.dump(whole.value), ast.dump(node.value), at_line(program, node.lineno)
                        written.setdefault(target.attr, []).append(one)
    return {
        name: (lines[0][2], lines[-1][2])
        for name, lines in written.items()
        if lines[0][0] != lines[-1][0] and lines[0][1] != lines[-1][1]
    }
