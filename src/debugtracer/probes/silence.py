"""Probes off inside a with block: the replay's own calls."""

from __future__ import annotations

from collections.abc import Sequence

from debugtracer.probes.desk import Desk
from debugtracer.probes.free_calls import FreeCalls
from debugtracer.probes.probe import Probe


class Silence:
    """A context in which nothing of the session listens."""

    def __init__(self, free: FreeCalls, probes: Sequence[Probe], desk: Desk) -> None:
        self.free, self.probes, self.desk = free, probes, desk
        self.popped = False

    def __enter__(self) -> None:
        self.popped = self.free.suspend()
        self.set(True)

    def __exit__(self, *_: object) -> None:
        self.set(False)
        self.free.resume(self.popped)

    def set(self, off: bool) -> None:
        """Switch every probe that has a switch."""
        self.desk.off = off
        for probe in self.probes:
            if hasattr(probe, "off") and probe is not self.free:
                probe.off = off
