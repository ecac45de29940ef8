"""The line that takes a number by its name or its place out of what a file holds. The source is read, nothing is
executed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.value_origin import Link
from debugtracer.trace.birth import Frame


def file_item(links: Sequence[Link]) -> Frame | None:
    """The last of these lines before the file that does so, in the function that reads the file (`energy =
    row["energy"]`): a unit or a scale of one file belongs there. None where the values do not come from a file, or are
    computed after it."""
    if not links or links[-1].kind != "read":
        return None
    for link in reversed(links[:-1]):
        item = link.value.node if link.value is not None else None
        if link.frame.function != links[-1].frame.function or link.kind != "handed":
            return None
        if isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Constant):
            return link.frame
    return None
