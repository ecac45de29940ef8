"""The events of a rank that is still written: each line is read and decoded once, however often it is asked for, and a
health snapshot only when somebody asks for it."""

from __future__ import annotations

import os
from pathlib import Path

from debugtracer.errors import TraceError
from debugtracer.trace.events import AnyEvent
from debugtracer.trace.store.journal import decode_event
from debugtracer.trace.store.schema import EVENTS
from debugtracer.trace.store.snapshot_lines import HEAD, Span, is_snapshot, span_of, unreadable
from debugtracer.trace.stored_json import DamagedJson


class EventLog:
    """One events.jsonl, followed: a torn last line waits for its end, a file that was replaced is read anew."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the rank; nothing is read yet."""
        self.path = folder / EVENTS
        self._clear(0)

    def _clear(self, inode: int) -> None:
        self._inode, self._offset, self._lines = inode, 0, 0
        self._events: list[AnyEvent] = []
        self._problems: list[str] = []
        self.snapshots: list[Span] = []
        """Where the health snapshots stand that `read` has come by."""

    def read(self) -> tuple[list[AnyEvent], list[str]]:
        """The events as written but the snapshots, and a sentence per damaged line. Raises TraceError as `read_events`
        does."""
        try:
            with self.path.open("rb") as file:
                there = os.fstat(file.fileno())
                if there.st_ino != self._inode or there.st_size < self._offset:
                    self._clear(there.st_ino)
                file.seek(self._offset)
                self._take(file.read())
        except FileNotFoundError:
            self._clear(0)
        except OSError as error:
            raise unreadable(self.path, error) from None
        if self._problems and not self._events:
            raise TraceError(
                f"{self.path} holds no readable event ({self._problems[0]}) - it is damaged, or of a newer "
                "debug-tracer."
            )
        return list(self._events), list(self._problems)

    def _take(self, new: bytes) -> None:
        start, begin = self._offset, 0
        while (end := new.find(b"\n", begin) + 1) > 0:
            self._lines += 1
            if is_snapshot(new[begin : begin + HEAD]):  # a whole one is too long to be copied
                self.snapshots.append(span_of(self._lines, start + begin, start + end, new[begin : begin + HEAD]))
            elif line := new[begin:end].strip():
                self._decode(line)
            begin = end
        self._offset = start + begin

    def _decode(self, line: bytes) -> None:
        try:
            self._events.append(decode_event(line))
        except DamagedJson as error:
            self._problems.append(f"{self.path}, line {self._lines}: {error}; this line is skipped.")
