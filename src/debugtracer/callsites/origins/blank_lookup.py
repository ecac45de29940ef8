"""The line that gives a number for what a table does not know, where that number stands in a stored row: an unknown
word that becomes padding. The source is read, nothing is executed."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence

from debugtracer.callsites.origins.nonfinite_origin import backwards
from debugtracer.callsites.origins.option_lines import literal
from debugtracer.callsites.origins.value_origin import Link, Use
from debugtracer.callsites.origins.written_names import final_name, writes_of
from debugtracer.trace.birth import Frame

MOST = 60  # lines that are looked at (ours)


def blank_lookup(links: Sequence[Link], number: float) -> tuple[Frame, str] | None:
    """The only line with a lookup that gives this number for what is unknown, or leaves it out, and the lookup itself:
    among those that wrote the value, else among all that it comes from. None where there is none, or more than one."""
    near = lookups(links, number)
    found = near or lookups(itertools.islice(backwards(links), MOST), number)
    return next(iter(found.values())) if len(found) == 1 else None


def lookups(links: Iterable[Link], number: float) -> dict[tuple[str, int], tuple[Frame, str]]:
    """The lines with such a lookup, each with the first one on it."""
    found: dict[tuple[str, int], tuple[Frame, str]] = {}
    for link in links:
        for node in ast.walk(link.value.node) if link.value is not None else ():
            if link.value is not None and isinstance(node, ast.expr) and gives(link.value, node, number):
                frame = link.value.frame(node)
                found.setdefault((frame.file, frame.line), (frame, ast.unparse(node)))
    return found


def gives(use: Use, node: ast.expr, number: float) -> bool:
    """Whether an expression looks something up and gives the number in place of what the table lacks: `ids.get(w, 0)`,
    `ids[w] if w in ids else 0`, or leaves it out: `[ids[w] for w in words if w in ids]`."""
    if isinstance(node, ast.Call) and final_name(node.func) == "get" and len(node.args) == 2:
        return value_of(use, node.args[1]) == number
    if isinstance(node, ast.IfExp) and is_known(node.test):
        return value_of(use, node.orelse) == number
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return any(is_known(test) for loop in node.generators for test in loop.ifs)
    return False


def is_known(test: ast.expr) -> bool:
    """Whether a condition asks if a table has something: `w in ids`."""
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In)


def value_of(use: Use, node: ast.expr) -> float | None:
    """The number of an expression: written out here, or once in its file under its name."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        written = writes_of(use.program.tree, ast.unparse(node))
        return literal(written[0].value) if len(written) == 1 and written[0].value is not None else None
    return literal(node)
