"""The index that a failing line used, and the lines that made it."""

from __future__ import annotations

import ast

from debugtracer.callsites.crash_site import CrashSite
from debugtracer.callsites.origins.handed_on import carrier
from debugtracer.callsites.origins.index_origin import index_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.trace.facts.crash import IndexUsed

OUTSIDE = "is out of bounds for"
"""What torch and numpy say of an index and the dimension it was used on."""


def index_used(site: CrashSite, batches: BatchLog) -> IndexUsed | None:
    """The only index of the line that raised; its values may be those of a batch, which the loader made. None where it
    is not known what computed them."""
    node, links = index_origin(site.frames)
    if node is None:
        return None
    inner = carrier(node)
    tensor = site.tensors.get(inner.id) if isinstance(inner, ast.Name) else None
    computed = any(link.kind in ("made", "formed") for link in links)
    known = batches.find(tensor) if tensor is not None and not computed else None
    if known is not None:
        links = (*links, *known[0].loader.origin(known[1]))
        computed = any(link.kind in ("made", "formed") for link in links)
    return IndexUsed(text=ast.unparse(node), made=made_first(links)) if computed else None
