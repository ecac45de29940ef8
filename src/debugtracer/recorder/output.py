"""What leaves the process: the rank's writer, opened at the first backward, and the events of its life."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from time import time as wall_time
from typing import TYPE_CHECKING

import torch

from debugtracer import errors
from debugtracer.devices.present import accelerator
from debugtracer.errors import swallow
from debugtracer.recorder.claim import claim, current_rank
from debugtracer.recorder.stand import Stand
from debugtracer.trace.birth import Frame
from debugtracer.trace.events import AnyEvent, Crashed, Failed, Noted, RankEnded, RankStarted
from debugtracer.trace.schema import rank_folder
from debugtracer.trace.writer import TraceWriter

if TYPE_CHECKING:
    from debugtracer.recorder.recorder import Recorder
    from debugtracer.recorder.updates import Updates

HEARTBEAT_S = 2.0  # seconds between two heartbeats in events.jsonl: as often as series are flushed


class Output:
    """Opens no file before the first backward, finding or crash: launchers and loader workers leave nothing behind."""

    def __init__(
        self,
        run: Callable[[], Path],
        mode: str,
        *,
        flush_steps: int,
        flush_s: float,
        run_bytes: int,
        traceback_frames: Callable[[BaseException], tuple[Frame, ...]],
    ) -> None:
        self.find_run = run
        """Gives the run folder; makes it when no supervisor did."""
        self.mode = mode
        self.options = {"flush_steps": flush_steps, "flush_s": flush_s, "run_bytes": run_bytes}
        self.traceback_frames = traceback_frames
        self.writer: TraceWriter | None = None
        self.folder: Path | None = None
        self.rank, self.world_size = 0, 1
        self.stand = Stand()
        self.off = ""
        self.notes: list[Noted] = []
        self.began = wall_time()
        self.beat = 0.0
        self.ended = False

    def open(self) -> None:
        """Open the rank's files, once. Unwritable: tracing goes off with one line, training goes on."""
        if self.writer is not None or self.off:
            return
        self.rank, self.world_size = current_rank()
        try:
            self.folder = self.find_run()
            self.rank = claim(self.folder, self.rank)
        except OSError as error:
            self.off = f"{error.strerror or error}"
            print(
                f"debug-tracer: run folder - cannot be written ({self.off}) - tracing is off, training goes on - give another folder with --out.",
                file=sys.stderr,
            )
            return
        self.writer = TraceWriter(self.folder, self.rank, **self.options)  # type: ignore[arg-type]
        if self.world_size > 1:
            self.stand.open(rank_folder(self.folder, self.rank))
            self.writer.on_wake = self.stand.look
        used = accelerator()
        self.event(
            RankStarted(
                at=self.began,
                rank=self.rank,
                pid=os.getpid(),
                world_size=self.world_size,
                torch=str(torch.__version__),
                python=platform.python_version(),
                device=used.kind if used is not None else "cpu",
                mode=self.mode,
            ),
            now=True,
        )
        for note in self.notes:
            self.event(note)
        self.notes.clear()

    def event(self, event: AnyEvent, now: bool = False) -> None:
        """Write one event."""
        if self.writer is not None:
            self.writer.event(event, now=now)

    def note(self, what: str, text: str, frame: Frame | None = None) -> None:
        """Keep a fact; before the files are open it waits."""
        noted = Noted(at=wall_time(), rank=self.rank, what=what, text=text, frame=frame)
        if self.writer is None:
            self.notes = [*self.notes[-63:], noted]
        else:
            self.event(noted)

    def point(self, step: int, values: dict[str, float], recorder: Recorder, updates: Updates) -> None:
        """The numbers of a step; a heartbeat now and then."""
        if self.writer is None:
            return
        self.writer.point(step, values)
        now = monotonic()
        if now - self.beat > HEARTBEAT_S:
            self.beat = now
            self.event(self.state(recorder, updates, final=False))

    def state(self, recorder: Recorder, updates: Updates, final: bool) -> RankEnded:
        """Counters of the rank."""
        return RankEnded(
            at=wall_time(),
            rank=self.rank,
            steps=recorder.step,
            iterations=recorder.iteration,
            wall_s=wall_time() - self.began,
            own_s=recorder.own_s,
            host_syncs=updates.canaries.host_syncs,
            skipped=updates.skipped,
            final=final,
        )

    def crash(self, error: BaseException, recorder: Recorder) -> None:
        """The program's own exception, with the user's frames."""
        self.open()
        if self.writer is None:
            return
        self.stand.died(error)
        text = str(error).strip()[:2000]
        self.event(
            Crashed(
                at=wall_time(),
                rank=self.rank,
                error=type(error).__name__,
                message=text,
                iteration=recorder.iteration_in_flight,
                step=recorder.step,
                frames=self.traceback_frames(error),
            ),
            now=True,
        )

    def close(self, recorder: Recorder, updates: Updates) -> None:
        """Failures of ours, the last counters, everything flushed. Safe to call again."""
        if self.writer is None or self.ended:
            return
        self.ended = True
        for failure in errors.failures.values():
            self.event(Failed(at=wall_time(), rank=self.rank, where=failure.where, count=failure.count, first=failure.first))
        self.event(self.state(recorder, updates, final=True), now=True)
        self.writer.close()

    def flush(self) -> None:
        """Everything to the OS."""
        if self.writer is not None:
            self.writer.flush()

    def drop(self) -> None:
        """In a forked child: forget the parent's files without touching them."""
        self.stand.forget()
        if self.writer is not None:
            try:
                self.writer.drop()
            except Exception as error:
                swallow("recorder.output", error)
        self.renew()

    def renew(self) -> None:
        """Nothing is open and nothing was said: the next backward opens files of its own."""
        self.writer, self.folder, self.ended, self.off, self.began, self.beat = None, None, False, "", wall_time(), 0.0
        self.notes.clear()
