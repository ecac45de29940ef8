"""What runs of the long lists: a fixed part on every commit, all of it in `just sweep` (DEBUG_TRACER_ALL=1)."""

from __future__ import annotations

import os
from collections.abc import Sequence

SWEEP = os.environ.get("DEBUG_TRACER_ALL") == "1"


def spread(names: Sequence[str]) -> list[str]:
    """The first and the middle one of each layer, the part of a name before its slash: the same on every day."""
    layers: dict[str, list[str]] = {}
    for name in names:
        layers.setdefault(name.partition("/")[0], []).append(name)
    return list(dict.fromkeys(name for mine in layers.values() for name in (mine[0], mine[len(mine) // 2])))
