"""The line that gave a value other sizes without moving its numbers. The source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.turn_lines import MOST, before, carried
from debugtracer.callsites.origins.value_origin import Link
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame

VIEWS = frozenset({"view", "reshape", "resize", "resize_", "unflatten"})


def view_line(links: Sequence[Link]) -> Frame | None:
    """The last of these lines, or of those that made what they are given, that views or reshapes."""
    for _ in range(MOST):
        use = None
        for link in links:
            use = link.value
            if use is not None and any(is_view(node) for node in ast.walk(use.node)):
                return link.frame
        first = carried(use.node) if use is not None else None
        if use is None or first is None:
            return None
        links = before(use, first)
    return None


def is_view(node: ast.AST) -> bool:
    """Whether this is such a call with sizes: `view(dtype)` has none."""
    if not isinstance(node, ast.Call) or final_name(node.func) not in VIEWS:
        return False
    return len(node.args) > 1 or any(isinstance(one, (ast.Tuple, ast.List)) for one in node.args)
