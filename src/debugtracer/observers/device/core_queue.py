"""Reads now and then how long the training thread stood in the queue for a core: a file of the system, no device is
waited for."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.facts.core_queue import CoreQueue

EARLY, EVERY, LATER, MANY = (1, 5), 10, 100, 1000  # steps of the samples, and those between them (ours)


class CoreQueueObserver(Observer):
    """Fifteen microseconds every tenth step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        """Begin anew: what came before belongs to another run."""
        self.last: tuple[float, float] | None = None

    def step_closed(self, optimizer: Any) -> None:
        """Compare with the sample before."""
        step = self.run.step
        if step not in EARLY and step % (EVERY if step < MANY else LATER):
            return
        queued_s, now = queue_s(), perf_counter()
        if queued_s is None:
            return
        if self.last is not None:
            ref = self.run.ref("update", self.run.iteration - 1)
            self.run.emit(CoreQueue(ref=ref, wall_s=now - self.last[0], queued_s=queued_s - self.last[1]))
        self.last = now, queued_s


def queue_s() -> float | None:
    """The seconds that this thread could have run and had no core, since it began; None where the system does not
    say."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None
