"""The runs that are served: one, or those of a folder; nothing outside of it has a name here."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from debugtracer.errors import DebugTracerError
from debugtracer.trace.store.followed_trace import FollowedTrace
from debugtracer.trace.store.liveness import liveness
from debugtracer.trace.store.reader import is_run
from debugtracer.trace.store.signature import Signature, signature_of
from debugtracer.views.json_report import finite
from debugtracer.views.page.run_row import run_row
from debugtracer.views.page.still_trace import StillTrace

MOST = 2000  # runs in the list, the newest
LOOK_S = 0.4  # what one look at the list may take: of further runs the verdict follows in the next


class Runs:
    """A run folder, or a folder of runs that may still be empty."""

    def __init__(self, path: Path) -> None:
        """Take one run folder or a folder of runs."""
        self.path = path.resolve()
        self.alone = self.path.is_dir() and is_run(self.path)
        self._rows: dict[str, tuple[Signature, dict[str, Any]]] = {}
        self._lock = Lock()

    def names(self) -> list[str]:
        """The names of the runs, the newest first."""
        if self.alone:
            return [self.path.name] if self.path.is_dir() else []
        found: list[tuple[float, str]] = []
        try:
            with os.scandir(self.path) as entries:
                for entry in entries:
                    try:
                        if entry.is_dir(follow_symlinks=False) and is_run(Path(entry.path)):
                            found.append((entry.stat(follow_symlinks=False).st_mtime, entry.name))
                    except OSError:
                        continue
        except OSError:
            return []
        return [name for _, name in sorted(found, reverse=True)[:MOST]]

    def find(self, name: str) -> Path | None:
        """The folder of a run by its name; None for any other text. A name is compared, never made into a path."""
        if self.alone:
            return self.path if name == self.path.name else None
        try:
            with os.scandir(self.path) as entries:
                for entry in entries:
                    if entry.name == name and entry.is_dir(follow_symlinks=False) and is_run(Path(entry.path)):
                        return Path(entry.path)
        except OSError:
            return None
        return None

    def rows(self) -> list[dict[str, Any]]:
        """Make one row a run, the newest first; a row whose verdict is not read yet is `pending`."""
        with self._lock:
            names = self.names()
            self._rows = {name: self._rows[name] for name in names if name in self._rows}
            end = time.monotonic() + LOOK_S
            return [self._row(name, time.monotonic() < end) for name in names]

    def _row(self, name: str, may_read: bool) -> dict[str, Any]:
        path = self.path if self.alone else self.path / name
        known = self._rows.get(name)
        try:
            signature = signature_of(path)
        except OSError:
            return {"id": name, "pending": True}
        if known is not None and known[0] == signature and known[1].get("status") != "running":
            return known[1]
        if known is not None and (known[0] == signature or not may_read):
            return known[1]
        if not may_read:
            return {"id": name, "pending": True}
        row = read_row(path, signature)
        self._rows[name] = signature, row
        return row


def read_row(path: Path, signature: Signature) -> dict[str, Any]:
    """The row of one run; of a damaged one, what is wrong with it."""
    trace = StillTrace(FollowedTrace(path))
    try:
        row = run_row(trace)
        stands = liveness(trace.manifest, trace.events(), signature)
    except (DebugTracerError, OSError, ValueError, KeyError, TypeError, msgspec.MsgspecError) as error:
        when = max((mtime for *_, mtime in signature), default=0) / 1e9
        return {"id": path.name, "tone": "unknown", "line": str(error), "status": "ended", "written_at": when}
    plain: dict[str, Any] = finite(row | msgspec.to_builtins(stands))
    return plain
