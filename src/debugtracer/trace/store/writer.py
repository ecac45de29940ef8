"""The trace writer of one rank: numbers and events in, files out, from a background thread; a full disk ends tracing,
never training."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any

from debugtracer import errors
from debugtracer.trace.events import AnyEvent
from debugtracer.trace.store.journal import Journal, encode_event
from debugtracer.trace.store.own_process import OwnProcess
from debugtracer.trace.store.schema import rank_folder
from debugtracer.trace.store.series.live import LiveSegment
from debugtracer.trace.store.series.thin import seal_within

if TYPE_CHECKING:
    from debugtracer.trace.facts.health import Health
    from debugtracer.trace.facts.layer_norms import LayerNorms
    from debugtracer.trace.store.layer_log import LayerLog
    from debugtracer.trace.store.norm_log import NormLog

MOST_PENDING = 1_000_000  # points kept in memory while the disk does not answer
LEAST_WAIT_S = 0.001  # a thread that never waits would take a whole core (ours)
CLOCK_S = 1.0  # seconds between two looks at the clock of the background thread: one costs 270 us in some sandboxes
PATIENCE_S = 10.0  # seconds a caller of flush() waits for a disk that does not answer
PROCESS = OwnProcess()


class TraceWriter:
    """Writes `run/rank=N`. All methods may be called from any thread; none raises for what the disk does, none touches
    a device.

    `off` says in one phrase why nothing is written any more (None while all is well); `dropped` counts points refused
    because the disk did not keep up. A process that was forked from the writer's own stays silent.
    """

    def __init__(
        self, run: Path, rank: int, *, flush_steps: int = 100, flush_s: float = 2.0, run_bytes: int = 2 * 1024**3,
        segment_flushes: int = 4096, segment_bytes: int = 8 * 1024**2,
        on_wake: Callable[[], None] | None = None,
        seal_aside: Callable[[Path, int, int], bool] | None = None,
    ) -> None:  # fmt: skip
        """Prepare a writer that has opened no file. A live segment is sealed after `segment_flushes` or
        `segment_bytes`, until the end by `seal_aside(folder, number, run_bytes)` where that is given; what it says
        False of waits for the end.

        `on_wake` is called by the background thread each `flush_s`; it must not raise."""
        self.folder = rank_folder(Path(run), rank)
        self.flush_steps, self.flush_s, self.run_bytes = flush_steps, flush_s, run_bytes
        self.segment_flushes, self.segment_bytes = segment_flushes, segment_bytes
        self.off: str | None = None
        self.silent = False  # off, closed or dropped
        self.dropped = 0
        self.pid = PROCESS.pid
        self.on_wake = on_wake
        self.seal_aside = seal_aside
        self._forget()

    def _forget(self) -> None:
        """Reset to a writer that has written nothing; with new locks, since a fork may have copied held ones."""
        self.points: deque[tuple[int, dict[str, float]]] = deque()
        self.lines: deque[bytes] = deque()
        self.taken: deque[Health] = deque()
        self.measured: deque[LayerNorms] = deque()
        self.lock = threading.RLock()  # re-entrant: a signal handler may flush while the same thread does
        self.wake = threading.Event()
        self.thread: threading.Thread | None = None
        self.closing = self.closed = False
        self.used_s = 0.0  # CPU seconds of the background thread, as of a second ago
        self.live: LiveSegment | None = None
        self.journal: Journal | None = None
        self.layers: LayerLog | None = None
        self.norm_log: NormLog | None = None
        self.due: list[int] = []  # ended live segments to be sealed
        self.left: list[int] = []  # those of them that only the end can seal

    def point(self, step: int, values: Mapping[str, float]) -> None:
        """Take values of series at a step. Hot path: a copy and an append, no IO, no lock, no host sync."""
        if self.silent or PROCESS.pid != self.pid:
            return
        points = self.points
        points.append((step, dict(values)))
        waiting = len(points)
        if waiting % self.flush_steps == 0 or self.thread is None:
            self._remind(waiting)

    def extend(self, points: Sequence[tuple[int, dict[str, float]]]) -> None:
        """Take values at several steps, in dicts that nobody changes any more."""
        if self.silent or PROCESS.pid != self.pid:
            return
        before = len(self.points)
        self.points.extend(points)
        waiting = len(self.points)
        if waiting // self.flush_steps > before // self.flush_steps or self.thread is None:
            self._remind(waiting)

    def _remind(self, waiting: int) -> None:
        if waiting > MOST_PENDING:
            self.dropped += 1 + len(self.points)
            self.points.clear()
        if self.thread is None:
            self._start()
        if waiting >= self.flush_steps:
            self.wake.set()
            if self.thread is not None and not self.thread.is_alive():
                self.flush()

    def event(self, event: AnyEvent, *, now: bool = False) -> None:
        """Take one event, in order; with `now` it and all before it are with the operating system when this returns."""
        if self.silent or PROCESS.pid != self.pid:
            return
        try:
            self.lines.append(encode_event(event))
        except (TypeError, ValueError) as error:
            errors.swallow("trace.store.writer.event", error)
            return
        if now:
            self.flush()
        elif self.thread is None:
            self._start()

    def snapshot(self, fact: Health) -> None:
        """Take a health snapshot for the columns of the layers; an append, all else is the background thread's."""
        if not self.silent and PROCESS.pid == self.pid:
            self.taken.append(fact)

    def norms(self, fact: LayerNorms) -> None:
        """Take norms of layers over some steps; an append, all else is the background thread's."""
        if not self.silent and PROCESS.pid == self.pid:
            self.measured.append(fact)

    def flush(self) -> None:
        """Write everything so far to the operating system (it survives the process, not a power loss)."""
        if self.silent or PROCESS.pid != self.pid:
            return
        if not self.lock.acquire(timeout=PATIENCE_S):
            self._turn_off(f"the disk did not answer for {PATIENCE_S:.0f} s")
            return
        try:
            self._write_lines()
            self._write_points()
            self._write_snapshots()
        except Exception as error:
            self._failed("trace.store.writer.flush", error)
        finally:
            self.lock.release()

    def seal(self) -> None:
        """Flush and seal the series; no number follows, events may. Safe to call again."""
        if PROCESS.pid != self.pid or self.closing:
            return
        self.flush()
        self.closing = True
        self.wake.set()
        if self.thread is not None and self.thread.is_alive():
            self.thread.join(PATIENCE_S)
        self._end_segment()
        self._seal_due()

    def close(self) -> None:
        """Flush, seal and end; later calls do nothing. Safe to call twice."""
        if PROCESS.pid != self.pid or self.closed:
            return
        self.seal()
        self.flush()
        self.closed = self.silent = True
        for file in (self.journal, self.layers, self.norm_log):
            if file is not None:
                file.close()
        self.journal = self.layers = self.norm_log = None

    def drop(self) -> None:
        """Forget everything, with no IO and no join; for a forked child. The parent's writer is not affected."""
        self._forget()
        self.silent, self.off = True, self.off or "dropped in a forked process"

    def _start(self) -> None:
        """Start the background thread, once."""
        with self.lock:
            if self.thread is not None or self.closing:
                return
            self.thread = threading.Thread(target=self._work, name="debug-tracer-writer", daemon=True)
            try:
                self.thread.start()
            except RuntimeError:  # no more threads, or the interpreter is ending: the caller's own thread flushes
                pass

    def _work(self) -> None:
        read_at = 0.0
        while not self.closing and not self.silent:
            self.wake.wait(max(self.flush_s, LEAST_WAIT_S))
            self.wake.clear()
            self.flush()
            self._seal_due()
            if self.on_wake is not None:
                self.on_wake()
            if (now := monotonic()) > read_at + CLOCK_S:
                read_at, self.used_s = now, thread_time()
        self.used_s = thread_time()

    def _open_folder(self) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder

    def _write_lines(self) -> None:
        lines = [self.lines.popleft() for _ in range(len(self.lines))]
        if lines:
            self.journal = self.journal or Journal(self._open_folder())
            self.journal.append(b"\n".join(lines))

    def _write_points(self) -> None:
        points = [self.points.popleft() for _ in range(len(self.points))]
        if not points:
            return
        batch = self._batch_of(points)
        if batch is None or not len(batch):
            return
        self.live = self.live or LiveSegment(self._open_folder())
        self.live.append(batch)
        if self.live.flushes >= self.segment_flushes or self.live.size >= self.segment_bytes:
            self._end_segment()

    def _write_snapshots(self) -> None:
        """Write the snapshots that wait. What cannot be a column is counted as a failure of ours."""
        for fact in [self.taken.popleft() for _ in range(len(self.taken))]:
            from debugtracer.trace.store.layer_log import LayerLog

            try:
                self.layers = self.layers or LayerLog(self._open_folder())
                self.layers.append(fact)
            except (TypeError, ValueError, OverflowError) as error:
                errors.swallow("trace.store.writer.snapshot", error)
        for norms in [self.measured.popleft() for _ in range(len(self.measured))]:
            from debugtracer.trace.store.norm_log import NormLog

            try:
                self.norm_log = self.norm_log or NormLog(self._open_folder())
                self.norm_log.append(norms)
            except (TypeError, ValueError, OverflowError) as error:
                errors.swallow("trace.store.writer.norms", error)

    def _batch_of(self, points: list[tuple[int, dict[str, float]]]) -> Any:
        """The batch of some points; None, counted as a failure of ours, if a value is no number."""
        from debugtracer.trace.store.series.blocks import live_batch

        try:
            return live_batch(points)
        except (TypeError, ValueError, OverflowError) as error:
            errors.swallow("trace.store.writer.point", error)
            return None

    def _end_segment(self) -> None:
        with self.lock:
            if self.live is not None:
                self.live.close()
                self.due.append(self.live.number)
                self.live = None

    def _seal_due(self) -> None:
        """Seal ended segments, without the lock, since they are not written any more."""
        try:
            while self.due and self.seal_aside is not None and not self.closing:
                if not self.seal_aside(self.folder, number := self.due.pop(0), self.run_bytes):
                    self.left.append(number)
            if self.seal_aside is None or self.closing:
                self.left, self.due = [], self.left + self.due
                while self.due:
                    seal_within(self.folder, self.due.pop(0), self.run_bytes)
        except Exception as error:
            self._failed("trace.store.writer.seal", error)

    def _failed(self, where: str, error: Exception) -> None:
        """End tracing for what the disk did, or for a failure of ours."""
        if isinstance(error, OSError):
            self._turn_off(error.strerror or str(error) or type(error).__name__)
        else:
            self._turn_off(f"{type(error).__name__}: {error}")
            errors.swallow(where, error)

    def _turn_off(self, reason: str) -> None:
        """End tracing with one line on stderr; what was written stays readable."""
        if self.off is not None:
            return
        self.off, self.silent = reason, True
        for waiting in (self.points, self.lines, self.taken, self.measured):
            waiting.clear()
        try:
            print(
                f"debug-tracer: {self.folder} cannot be written ({reason}); the trace ends here, training goes on. "
                "Free space there or choose another folder with --out for the next run.", file=sys.stderr, flush=True,
            )  # fmt: skip
        except (OSError, ValueError, AttributeError):  # stderr is closed too
            pass
