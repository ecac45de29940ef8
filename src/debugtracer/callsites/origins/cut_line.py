"""The line that cut a value out of a longer one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from debugtracer.callsites.origins.value_origin import Link, made_first
from debugtracer.trace.birth import Frame


def cut_first(links: Sequence[Link], later: bool = False) -> tuple[Frame, ...]:
    """The lines from the one that cut the value last, with `later` at its beginning (`ids[1:]`), to the one that wrote
    it last. Where none does, from the one that computed it last."""
    found = next((link.frame for link in links if cuts(link, later)), None)
    if found is None:
        return made_first(links, cut=True)
    way = [link.frame for link in links]
    return tuple(way[way.index(found) :: -1])


def cuts(link: Link, later: bool) -> bool:
    """Whether a line takes a part of a value by its places."""
    if link.value is None or link.kind not in ("made", "formed"):
        return False
    slices = [node for node in ast.walk(link.value.node) if isinstance(node, ast.Slice)]
    return any(begins(one) if later else one.lower or one.upper for one in slices)


def begins(one: ast.Slice) -> bool:
    """Whether a slice leaves out what comes first."""
    return one.lower is not None and not (isinstance(one.lower, ast.Constant) and one.lower.value == 0)
