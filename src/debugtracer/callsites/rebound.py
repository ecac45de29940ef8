"""Where the user's source computes an updated weight and binds it to the loop's own name instead of writing into the
parameter."""

from __future__ import annotations

import ast
import linecache

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.trace.birth import Frame


def rebinding_line(file: str) -> Frame | None:
    """Return the only line of this file that does so; None where there is none, or several. Reads source."""
    program = program_of(file)
    if program is None:
        return None
    loops = program.every(ast.For)
    found = {line: loop for loop in loops for line in rebindings(loop)}
    if len(found) != 1:
        return None
    ((line, loop),) = found.items()
    name = getattr(program.function(loop), "name", "<module>")
    return Frame(file, line, name, linecache.getline(file, line).strip())


def rebindings(loop: ast.For) -> list[int]:
    """The lines `p = p - rate * step` of a loop over `p` that reads `p.grad`."""
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    inside = [node for statement in loop.body for node in ast.walk(statement)]
    trained = {
        node.value.id
        for node in inside
        if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.value, ast.Name)
    }
    return [
        node.lineno
        for node in inside
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(target := node.targets[0], ast.Name)
        and target.id in names & trained
        and isinstance(node.value, ast.BinOp)
        and any(isinstance(part, ast.Name) and part.id == target.id for part in ast.walk(node.value))
    ]
