"""Runs the judge in a thread beside the training: a queue of numbers and facts in, findings of the checks out."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from time import thread_time

from debugtracer.checks.check import Check
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.errors import DebugTracerError, strict, swallow
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef

PATIENCE_S = 20.0  # how long the end of a run waits for its judge (ours)
BACKLOG = 10_000  # steps that may wait for the judge; above it numbers are dropped, never the training slowed (ours)


class LiveChecks:
    """One per process. The training thread only puts into the queue."""

    def __init__(self, tell: Callable[[Finding], None], asked: Mapping[str, Check] | None = None) -> None:
        self.tell = tell
        self.asked = asked
        """The checks with their options; all with their defaults when None."""
        self.queue: queue.SimpleQueue[tuple[StepRef, Mapping[str, float], Sequence[Fact]] | None] = queue.SimpleQueue()
        self.thread: threading.Thread | None = None
        self.judge = Judge(asked)
        self.last = StepRef(iteration=0, step=0)
        self.steps = 0
        self.dropped = 0
        self.judge_s = 0.0

    def step(self, ref: StepRef, values: Mapping[str, float], facts: Sequence[Fact]) -> None:
        """Hand over a step. Microseconds."""
        if self.thread is None:
            self.thread = threading.Thread(target=self.work, name="debug-tracer-judge", daemon=True)
            self.thread.start()
        if self.queue.qsize() < BACKLOG or facts:
            self.queue.put((ref, values, facts))
        else:
            self.dropped += 1

    def work(self) -> None:
        """Run the loop of the judge's thread."""
        while (item := self.queue.get()) is not None:
            self.take(*item)

    def take(self, ref: StepRef, values: Mapping[str, float], facts: Sequence[Fact]) -> None:
        """Judge one step; called in the judge's thread."""
        begin = thread_time()
        self.last = ref
        self.steps += bool(values)
        try:
            for finding in self.judge.judge(ref, values, facts):
                self.tell(finding)
        except Exception as error:
            self.fail(error)
        self.judge_s += thread_time() - begin

    def fail(self, error: Exception) -> None:
        """Count the failure of a check; in our own tests the thread ends with a traceback."""
        try:
            swallow("diagnosis.judging.live_checks", error)
        except Exception:
            import sys
            import traceback

            traceback.print_exc(file=sys.stderr)
            if strict():
                print("debug-tracer: STRICT: a check failed", file=sys.stderr, flush=True)

    def finish(self, facts: Sequence[Fact] = (), ref: StepRef | None = None) -> bool:
        """Judge everything, then the end of the run; False when the judge did not finish in time."""
        if self.dropped:
            self.fail(
                DebugTracerError(
                    f"{self.dropped} steps were not judged; the judge was more than {BACKLOG} steps behind"
                )
            )
        if self.thread is not None:
            self.queue.put(None)
            self.thread.join(PATIENCE_S)
            if self.thread.is_alive():
                return False
            self.thread = None
        try:
            for finding in self.judge.end(self.last if ref is None else ref, facts):
                self.tell(finding)
        except Exception as error:
            self.fail(error)
        return True

    def reset(self) -> None:
        """Reset to an empty state in a forked child; the thread stayed with the parent."""
        self.__init__(self.tell, self.asked)  # type: ignore[misc]
