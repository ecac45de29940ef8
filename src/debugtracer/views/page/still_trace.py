"""A trace whose events and ranks are read once, without the health snapshots: the panels ask a dozen times."""

from __future__ import annotations

import functools

from debugtracer.trace.events import AnyEvent
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.snapshot_lines import Span


class StillTrace(Trace):
    """The run as it was at the first question; what it says of events is what the given trace says."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace.path)
        self.problems = trace.problems
        self._given = trace
        self._read: dict[int | None, list[AnyEvent]] = {}

    @functools.cached_property
    def ranks(self) -> list[int]:
        """The ranks that had written something at the first question, ascending."""
        return self._given.ranks

    def events(self, rank: int | None = None, *, snapshots: bool = False) -> list[AnyEvent]:
        """Read the events of a rank, or of all in order of time, at the first call; the same list at any other."""
        if snapshots:
            return self._given.events(rank, snapshots=True)
        if rank not in self._read:
            ranks = self.ranks
            alone = rank is None and len(ranks) == 1
            self._read[rank] = (
                sorted(self.events(ranks[0]), key=lambda event: event.at)
                if alone
                else self._given.events(rank, snapshots=False)
            )
        return self._read[rank]

    def snapshot_spans(self, rank: int) -> list[Span]:
        """Where the health snapshots of a rank stand, as the given trace says."""
        return self._given.snapshot_spans(rank)
