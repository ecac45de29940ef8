"""Seconds that one part of ours has cost, as far as they were ours: what other programs took from the machine meanwhile
is left out."""

from __future__ import annotations

from collections import deque

KEPT = 9  # durations whose median is usual (ours)
MOST = 2.0  # times the usual duration that one counts at most (ours: above it the thread was waiting for its core)


class PartCost:
    """Told of each duration by perf_counter, for a thread's own clock is a system call."""

    def __init__(self) -> None:
        self.durations: deque[float] = deque(maxlen=KEPT)

    def counted(self, elapsed_s: float) -> float:
        """Return the seconds that count of a duration: all of it, but at most a few times the usual."""
        self.durations.append(elapsed_s)
        return min(elapsed_s, MOST * self.usual_s())

    def usual_s(self) -> float:
        """The median of the last durations, the lower of two; 0 before the first."""
        ordered = sorted(self.durations)
        return ordered[(len(ordered) - 1) // 2] if ordered else 0.0
