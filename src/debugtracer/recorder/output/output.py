"""What leaves the process: the rank's trace writer, opened at the first backward, and the events of the rank."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from time import time as wall_time

import torch

from debugtracer import errors
from debugtracer.callsites.frames import traceback_frames
from debugtracer.devices.present import accelerator
from debugtracer.errors import swallow
from debugtracer.recorder.output.claim import claim, current_rank
from debugtracer.recorder.output.rank_heartbeat import RankHeartbeat
from debugtracer.recorder.run_state import RunState
from debugtracer.trace.birth import Frame
from debugtracer.trace.events import AnyEvent, Crashed, Failed, Noted, RankEnded, RankStarted
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.layer_norms import LayerNorms
from debugtracer.trace.plain_text import plain_text
from debugtracer.trace.step import step_id
from debugtracer.trace.store.schema import rank_folder
from debugtracer.trace.store.series.seal_aside import seal_aside
from debugtracer.trace.store.writer import TraceWriter

HEARTBEAT_S = 2.0  # seconds between two heartbeats in events.jsonl: as often as series are flushed
# of the time since the first: a run of a week leaves some thousand heartbeats, 1 MB, not 300,000 (ours)
BEATS_SHARE = 0.001


class Output:
    """Opens no file before the first backward, finding, exchange or crash: launchers and loader workers leave nothing
    behind."""

    def __init__(
        self,
        run: Callable[[], Path],
        state: RunState,
        mode: str,
        *,
        flush_steps: int,
        flush_s: float,
        run_bytes: int,
    ) -> None:
        self.find_run = run
        """Gives the run folder; makes it when no supervisor did."""
        self.state, self.mode = state, mode
        self.options = {"flush_steps": flush_steps, "flush_s": flush_s, "run_bytes": run_bytes}
        self.writer: TraceWriter | None = None
        self.folder: Path | None = None
        self.rank, self.world_size = 0, 1
        self.heartbeat = RankHeartbeat(state)
        self.off = ""
        self.notes: list[Noted] = []
        self.began = wall_time()
        self.beat = self.first_beat = 0.0
        """When the next heartbeat is due, and when the first one was; monotonic seconds."""
        self.ended = False

    def folder_of_rank(self) -> Path | None:
        """Return the folder of this rank where there are several; None before the files are open."""
        return rank_folder(self.folder, self.rank) if self.folder is not None and self.world_size > 1 else None

    def opened_folder_of_rank(self) -> Path | None:
        """Return the same, with the files of one rank of several open from now on: it may be aborted in the call that
        comes next, before its first backward."""
        if current_rank()[1] > 1:
            self.open()
        return self.folder_of_rank()

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
                f"debug-tracer: run folder - cannot be written ({self.off}) - tracing is off, training goes on - give "
                "another folder with --out.",
                file=sys.stderr,
            )
            return
        several = self.world_size > 1
        self.writer = TraceWriter(
            self.folder,
            self.rank,
            on_wake=self.heartbeat.watch if several else None,
            seal_aside=seal_aside,
            **self.options,  # type: ignore[arg-type]
        )
        if several:
            self.heartbeat.open(rank_folder(self.folder, self.rank))
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

    def trace_id(self, iteration: int) -> str:
        """The trace id of a step of this rank; empty before the run folder is known."""
        return step_id(self.folder.name, self.rank, iteration) if self.folder is not None else ""

    def event(self, event: AnyEvent, now: bool = False) -> None:
        """Write one event; with `now` it reaches the operating system at once."""
        if self.writer is not None:
            self.writer.event(event, now=now)

    def snapshot(self, fact: Health) -> None:
        """Write a health snapshot as columns."""
        if self.writer is not None:
            self.writer.snapshot(fact)

    def norms(self, fact: LayerNorms) -> None:
        """Write norms of layers over some steps as columns."""
        if self.writer is not None:
            self.writer.norms(fact)

    def note(self, what: str, text: str, frame: Frame | None = None) -> None:
        """Keep a fact; before the files are open it waits."""
        noted = Noted(at=wall_time(), rank=self.rank, what=what, text=text, frame=frame)
        if self.writer is None:
            self.notes = [*self.notes[-63:], noted]
        else:
            self.event(noted)

    def point(self, step: int, values: dict[str, float]) -> None:
        """Write the numbers of a step, and a heartbeat every HEARTBEAT_S seconds, in a long run less often."""
        if self.writer is None:
            return
        self.writer.point(step, values)
        self.keep_alive()

    def points(self, points: Sequence[tuple[int, dict[str, float]]]) -> None:
        """Write the numbers of steps in a row, which nobody changes any more."""
        if self.writer is not None:
            self.writer.extend(points)
            self.keep_alive()

    def keep_alive(self) -> None:
        """Write a heartbeat, where one is due."""
        now = monotonic()
        if now > self.beat:
            self.first_beat = self.first_beat or now
            self.beat = now + max(HEARTBEAT_S, BEATS_SHARE * (now - self.first_beat))
            self.event(self.counters(final=False))

    def thread_s(self) -> float:
        """Return the CPU seconds of the thread that writes."""
        return self.writer.used_s if self.writer is not None else 0.0

    def counters(self, final: bool) -> RankEnded:
        """Collect the counters of the rank."""
        state = self.state
        return RankEnded(
            at=wall_time(),
            rank=self.rank,
            steps=state.step,
            iterations=state.iteration,
            wall_s=wall_time() - self.began + state.start_s,
            own_s=state.start_s + state.steady_s + state.incident_s + state.end_s,
            host_syncs=state.host_syncs,
            skipped=state.skipped,
            final=final,
            own_updates=None if state.stepped or state.weights_unread else state.own_updates,
            rested=dict(state.rested),
        )

    def died(self, error: BaseException) -> None:
        """Write where the program's own exception came from, before anything is made of it: a launcher ends a rank
        moments after another one has failed."""
        self.open()
        if self.writer is not None:
            self.heartbeat.died(error)

    def crash(self, error: BaseException) -> None:
        """Record the program's own exception, with the user's frames."""
        self.open()
        if self.writer is None:
            return
        text = plain_text(str(error)).strip()[:2000]
        self.event(
            Crashed(
                at=wall_time(),
                rank=self.rank,
                trace_id=self.trace_id(self.state.iteration_in_flight),
                error=type(error).__name__,
                message=text,
                iteration=self.state.iteration_in_flight,
                step=self.state.step,
                frames=traceback_frames(error),
            ),
            now=True,
        )

    def close(self) -> None:
        """Write failures of ours and the last counters, and flush everything. Safe to call again."""
        if self.writer is None or self.ended:
            return
        self.ended, began = True, monotonic()
        self.writer.seal()
        self.state.ended(monotonic() - began)
        for failure in errors.failures.values():
            self.event(
                Failed(at=wall_time(), rank=self.rank, where=failure.where, count=failure.count, first=failure.first)
            )
        self.event(self.counters(final=True), now=True)
        self.writer.close()

    def flush(self) -> None:
        """Flush everything to the operating system."""
        if self.writer is not None:
            self.writer.flush()

    def drop(self) -> None:
        """Forget the parent's files without touching them; called in a forked child."""
        self.heartbeat.reset()
        if self.writer is not None:
            try:
                self.writer.drop()
            except Exception as error:
                swallow("recorder.output.output", error)
        self.renew()

    def renew(self) -> None:
        """Reset so that the next backward opens files of its own."""
        self.writer, self.folder, self.ended, self.off, self.began = None, None, False, "", wall_time()
        self.beat = self.first_beat = 0.0
        self.notes.clear()
