"""One run that is looked at: its panels as they are now, and which of them changed since."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from debugtracer.errors import DebugTracerError
from debugtracer.trace.store.followed_trace import FollowedTrace
from debugtracer.trace.store.liveness import Liveness, liveness
from debugtracer.trace.store.signature import Signature, signature_of
from debugtracer.views.html import plain
from debugtracer.views.page.document import document
from debugtracer.views.page.still_trace import StillTrace

SHARE = 0.2  # of the time, at most, that one run is read again while it trains
LAYERS_SHARE = 0.05  # the same with the panel that is dear: it has every health snapshot in it
AT_ONCE_BYTES = 1_000_000  # of health snapshots that a page waits for when it is opened
AT_ONCE_RANKS = 64  # and ranks
UNCHANGED = ("schema", "id", "written_at")
PENDING = {"layers": {"steps": [], "maps": [], "pending": True}, "ranks": []}
"""The panels of a page that are dear to read, while that is still being done."""


class RunFeed:
    """Reads a run at most once per change of its files, for any number of pages."""

    def __init__(self, path: Path) -> None:
        """Take a run folder; nothing is read yet."""
        self.path = path
        self.gone = False
        self.epoch = secrets.token_hex(4)
        self.version = 0
        self._trace = FollowedTrace(path)
        self._signature: Signature | None = None
        self._page: dict[str, Any] = {}
        self._encoded: dict[str, tuple[bytes, int]] = {}
        self._snapshots = -1, 0
        self._due_s = self._layers_due_s = 0.0
        self._behind = False
        self._late: set[str] = set()
        """Panels that were not read yet."""
        self._lock = Lock()

    def look(self) -> None:
        """Read what was written since the last look, unless that was dear and is not long ago."""
        with self._lock:
            try:
                signature = signature_of(self.path)
            except OSError:
                signature = None
            if signature is None or not signature:
                self.gone = True
                return
            self.gone = False
            now = time.monotonic()
            if now >= self._due_s and (signature != self._signature or (self._behind and now >= self._layers_due_s)):
                self._read(signature)

    def _read(self, signature: Signature) -> None:
        """Read the run; at the first time all but what is dear, which follows when somebody looks again."""
        began = time.monotonic()
        trace = StillTrace(self._trace.again())
        taken = self._taken(trace, signature)
        first, unchanged = not self._page, signature == self._signature
        fresh, long = taken != self._snapshots, taken[1] > AT_ONCE_BYTES
        late, self._late = self._late, set[str]()
        kept: dict[str, Any] = {}
        if first:
            self._late = {"layers"} if long else set()
            self._late |= {"ranks"} if len(trace.ranks) > AT_ONCE_RANKS else set()
            kept = {name: PENDING[name] for name in self._late}
        elif unchanged:
            kept = {name: panel for name, panel in self._page.items() if name not in late}
        self._behind = len(self._late) > 0 if first else fresh and began < self._layers_due_s
        if not first and self._behind:
            self._late = {"layers"}
        if not first and not unchanged and (self._behind or not fresh):
            kept = {"layers": self._page["layers"]}
        page = document(trace, kept) | {"state": msgspec.to_builtins(self._state(trace, signature))}
        if kept and not first:  # what a panel could not read is said as long as the panel stays
            page["problems"] = list(dict.fromkeys([*self._page["problems"], *page["problems"]]))
        self._signature, self._page = signature, page
        self.version += 1
        for name, panel in page.items():
            text = msgspec.json.encode(panel)
            if name not in UNCHANGED and self._encoded.get(name, (b"", 0))[0] != text:
                self._encoded[name] = text, self.version
        took = time.monotonic() - began
        if not (first and self._behind):
            self._due_s = time.monotonic() + took * (1 / SHARE - 1)
        if "layers" not in kept:
            self._snapshots = taken
            self._layers_due_s = 0.0 if self._behind else time.monotonic() + took * (1 / LAYERS_SHARE - 1)

    def _taken(self, trace: StillTrace, signature: Signature) -> tuple[int, int]:
        """A number that grows with the health snapshots and norms of layers, and how many bytes these have."""
        try:
            spans = [span for rank in trace.ranks for span in trace.snapshot_spans(rank)]
        except (DebugTracerError, OSError):
            return 0, 0
        norms = sum(size for name, _, size, _ in signature if "/norms-" in name)
        return len(spans) + norms, sum(span.end - span.begin for span in spans) + norms

    def _state(self, trace: StillTrace, signature: Signature) -> Liveness:
        try:
            return liveness(trace.manifest, trace.events(), signature)
        except (DebugTracerError, OSError):
            return Liveness("ended", max((mtime for *_, mtime in signature), default=0) / 1e9)

    def page(self) -> tuple[dict[str, Any], str]:
        """The whole document as last read, and the report as text. Raises OSError when the run is gone."""
        self.look()
        with self._lock:
            if self.gone or not self._page:
                raise FileNotFoundError(str(self.path))
            return self._page | {"version": self.mark}, plain(StillTrace(self._trace.again()))

    @property
    def mark(self) -> str:
        """The name of what was read last; it says nothing to another server."""
        return f"{self.epoch}-{self.version}"

    def since(self, mark: str) -> dict[str, bytes]:
        """The panels, as JSON, that changed since a mark; all of them if it is not ours."""
        epoch, _, version = mark.partition("-")
        old = (
            int(version)
            if epoch == self.epoch and version.isascii() and version.isdigit() and len(version) < 12
            else -1
        )
        with self._lock:
            return {name: text for name, (text, changed) in self._encoded.items() if changed > old}

    def state(self) -> dict[str, Any]:
        """Return status, mode and number of ranks, as last read."""
        with self._lock:
            page = self._page
            return {
                "status": page.get("state", {}).get("status", "ended"),
                "mode": page.get("manifest", {}).get("mode", ""),
                "ranks": page.get("run", {}).get("world_size", 1),
            }
