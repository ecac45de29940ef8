"""The processes that only started the ranks: they train nothing, and no step of the run is theirs."""

from __future__ import annotations

from debugtracer.trace.events import RankStarted
from debugtracer.trace.store.reader import Trace


def launchers(trace: Trace) -> set[int]:
    """Find the ranks that knew of no others in a run of several; one that trained all the same is told by its
    losses."""
    started = [event for event in trace.events() if isinstance(event, RankStarted)]
    size = max((event.world_size for event in started), default=1)
    return {event.rank for event in started if event.world_size == 1 < size}
