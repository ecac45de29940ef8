"""A trace that is asked again and again while it is written: of its events only what is new is read."""

from __future__ import annotations

from pathlib import Path

from debugtracer.trace.events import AnyEvent
from debugtracer.trace.store.event_log import EventLog
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.schema import rank_folder
from debugtracer.trace.store.snapshot_lines import Span


class FollowedTrace(Trace):
    """The run as it is now. `again` gives a reader of what it is later, without the problems of before."""

    def __init__(self, path: Path, logs: dict[int, EventLog] | None = None) -> None:
        """Take a run folder, and the logs of an earlier reader of it."""
        super().__init__(path)
        self._logs = {} if logs is None else logs

    def again(self) -> FollowedTrace:
        """A fresh reader that shares what was decoded."""
        return FollowedTrace(self.path, self._logs)

    def events(self, rank: int | None = None, *, snapshots: bool = False) -> list[AnyEvent]:
        """Read the events of a rank as written, or of all ranks in order of time; of the snapshots none was decoded."""
        if snapshots:
            return super().events(rank)
        found: list[AnyEvent] = []
        for one in self.ranks if rank is None else [rank]:
            log = self._log(one)
            events, problems = log.read()
            found += events
            self._note(problems)
        return found if rank is not None else sorted(found, key=lambda event: event.at)

    def snapshot_spans(self, rank: int) -> list[Span]:
        """Where the health snapshots of a rank stand, as far as its events were read."""
        self._log(rank).read()
        return list(self._log(rank).snapshots)

    def _log(self, rank: int) -> EventLog:
        return self._logs.setdefault(rank, EventLog(rank_folder(self.path, rank)))
