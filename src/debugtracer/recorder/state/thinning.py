"""Which of the older snapshots gives way: those that stay lie the further apart the longer they are ago."""

from __future__ import annotations

from collections.abc import Sequence


def gives_way(steps: Sequence[int], now: int, reach: int) -> int:
    """Return the index of the snapshot to drop. `steps` are those of the older ones, the oldest first, one at least.

    The oldest goes where it lies further back than `reach`; else the one whose neighbours are closest together for its
    age, never the oldest: the reach stays, and each is about as many times as long ago as the next.
    """
    if now - steps[0] >= reach or len(steps) < 3:
        return 0
    gaps = [(after - before) / (now - at) for before, at, after in zip(steps, steps[1:], steps[2:], strict=False)]
    return 1 + gaps.index(min(gaps))
