"""The parts of a step by the clock of the host: what the program spent in forward, in backward and in its update."""

from __future__ import annotations

from time import perf_counter
from typing import Protocol


class OwnSeconds(Protocol):
    """What is known of our own time, which is in no part."""

    own_s: float
    incident_s: float


class Phases:
    """One per process, asked while the observers work. Two readings of the clock a part; an accelerator works on after
    its call has come back, so these are the seconds of the host."""

    __slots__ = ("begun_s", "next_step", "own", "own_s_at_begin", "seconds")

    def __init__(self, own: OwnSeconds) -> None:
        self.own = own
        self.reset()

    def reset(self) -> None:
        """Begin at step 0 with nothing measured."""
        self.next_step = 0
        """The step that is measured whole if no step in between goes unmeasured."""
        self.drop()

    def drop(self) -> None:
        """Forget what was measured of the step in flight: an exception went through it."""
        self.seconds: dict[str, float] = {}
        self.begun_s: float | None = None

    def begin(self) -> None:
        """Start the clock: what follows is the program's."""
        self.own_s_at_begin = self.own.own_s + self.own.incident_s
        self.begun_s = perf_counter()

    def end(self, name: str) -> None:
        """Add what has passed since, less what was ours of it, to a part."""
        if self.begun_s is not None:
            spent_s = perf_counter() - self.begun_s - (self.own.own_s + self.own.incident_s - self.own_s_at_begin)
            self.seconds[name] = self.seconds.get(name, 0.0) + max(spent_s, 0.0)
            self.begun_s = None

    def take(self, step: int) -> dict[str, float]:
        """Return the seconds of the step that is over, of each part; nothing where only some of it was measured."""
        seconds, whole = self.seconds, step == self.next_step
        self.drop()
        self.next_step = step + 1
        return seconds if whole else {}
