"""Where labels are cut to a length, so that those which count may lie beyond it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.option_lines import literal
from debugtracer.callsites.origins.value_origin import Link, Use, last_write
from debugtracer.trace.birth import Frame


def label_cut(links: Sequence[Link], width: int) -> Frame | None:
    """The line that cuts them to that width, which the batch has; None where none does."""
    for link in links:
        for node in ast.walk(link.value.node) if link.value is not None else ():
            upper = node.upper if isinstance(node, ast.Slice) else None
            if upper is not None and link.value is not None and number(link.value, upper) == width:
                return link.frame
    return None


def number(use: Use, node: ast.expr) -> float | None:
    """The number that an expression is, or that its name was given at module level or in the same function."""
    if not isinstance(node, ast.Name):
        return literal(node)
    for scope in (use.scope, None):
        last = last_write(use.program, scope, node.id, None)
        if last is not None and last.value is not None:
            return literal(last.value)
    return None
