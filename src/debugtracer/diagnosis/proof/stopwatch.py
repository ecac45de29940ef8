"""How long trials have taken: on a machine that others use as well, they may not give up for having waited."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter, thread_time

PATIENCE = 3.0  # seconds that may pass for each one that trials are given, at most (ours)


class Stopwatch:
    """Started by its constructor, on the thread that runs the trials; no host sync."""

    def __init__(self) -> None:
        self.began = perf_counter(), thread_time()

    @property
    def spent_s(self) -> float:
        """The seconds that this thread has worked since, and never less than a third of those that have passed: a
        device works while its thread waits."""
        passed, worked = perf_counter() - self.began[0], thread_time() - self.began[1]
        return max(worked, passed / PATIENCE)


def plain_step_s(steps_s: Iterable[float], last_s: float) -> float:
    """The time of a step in which we looked at nothing: three of four of these took longer; `last_s` where there are
    none."""
    known = sorted(steps_s)
    return known[len(known) // 4] if known else last_s
