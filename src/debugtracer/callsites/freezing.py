"""Where the user's source freezes parameters: lines that set requires_grad to False."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.trace.birth import Frame


def freezing_line(files: Iterable[str]) -> Frame | None:
    """Return the only line of these files that freezes; None where there is none, or several. Reads source."""
    found = [frame for file in dict.fromkeys(files) for frame in freezing_lines(file)]
    return found[0] if len(found) == 1 else None


def freezing_lines(file: str) -> list[Frame]:
    """Return all of one file, in the order of the text; empty for a library's."""
    program = program_of(file)
    if program is None:
        return []
    found = []
    for node in program.nodes:
        if freezes(node):
            line = getattr(node, "lineno", 1)
            around = program.function(node)
            name = getattr(around, "name", "<module>")
            found.append(Frame(file, line, name, linecache.getline(file, line).strip()))
    return found


def freezes(node: ast.AST) -> bool:
    """True for `p.requires_grad = False` and `p.requires_grad_(False)`."""
    if isinstance(node, ast.Assign):
        return is_false(node.value) and any(
            isinstance(target, ast.Attribute) and target.attr == "requires_grad" for target in node.targets
        )
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "requires_grad_"
        and any(is_false(value) for value in [*node.args, *(word.value for word in node.keywords)])
    )


def is_false(value: ast.expr) -> bool:
    """True for the word False itself."""
    return isinstance(value, ast.Constant) and value.value is False
