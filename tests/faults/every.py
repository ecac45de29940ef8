"""What runs of the long lists: a fixed part on every commit, all of it in `just sweep` (DEBUG_TRACER_ALL=1)."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Sequence

SWEEP = os.environ.get("DEBUG_TRACER_ALL") == "1"


def spread(names: Sequence[str]) -> list[str]:
    """The first and the middle one of each layer, the part of a name before its slash: the same on every day."""
    layers: dict[str, list[str]] = {}
    for name in names:
        layers.setdefault(name.partition("/")[0], []).append(name)
    return list(dict.fromkeys(name for mine in layers.values() for name in (mine[0], mine[len(mine) // 2])))


def fixed(names: Iterable[str], one_in: int, always: Iterable[str] = ()) -> list[str]:
    """What a commit runs of a list: `always`, and of the others one in so many by their own name, so that a name that
    comes or goes moves no other; all of it in the sweep."""
    kept = set(always)
    return [name for name in names if SWEEP or name in kept or zlib.crc32(name.encode()) % one_in == 0]
