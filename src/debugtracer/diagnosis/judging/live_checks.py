"""Runs the judge in a thread beside the training: numbers and facts in, findings of the checks out. It looks a few
times a second, works in short slices and rests in proportion, so that no step waits for it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import thread_time
from typing import NamedTuple

from debugtracer.checks.check import Check
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.diagnosis.judging.pace import REST_SHARE, SHARE, Pace
from debugtracer.errors import DebugTracerError, strict, swallow
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef

PATIENCE_S = 20.0  # how long the end of a run waits for its judge (ours)
INCIDENT_S = 2.0  # how long an incident waits for what was to be said before it (ours)
BACKLOG = 10_000  # steps that may wait for the judge; above it numbers are dropped, never the training slowed (ours)
# steps that may wait before the judge takes every other one, and below which it takes all again (ours): a run of a few
# thousand steps is judged whole, however short they are
LATE, SOON = 2000, 500
REST = 1000  # steps of those that wait for it at the end of such a run that are judged (ours): a sixth of a second
FIRST_STEPS = 50  # steps that are judged as they come: the promised cost counts from there on (docs/cost.md)


class Handed(NamedTuple):
    """What a step gives to the judge."""

    ref: StepRef
    values: Mapping[str, float]
    facts: Sequence[Fact]
    skipped: int
    """Steps before it that are not judged."""
    stands_out: bool
    """It is judged however late the judge is."""


Given = tuple[StepRef, Mapping[str, float], Sequence[Fact], int, bool]
handed: Callable[[Given], Handed] = partial(tuple.__new__, Handed)
"""Make a Handed of the values in a tuple; no function of Python's runs."""


class LiveChecks:
    """One per process. The training thread only appends to a queue; after the first steps nobody is woken by it."""

    def __init__(self, tell: Callable[[Finding], None], asked: Mapping[str, Check] | None = None) -> None:
        """Take who is told of findings, and the checks with their options: all with their defaults when None."""
        self.tell, self.asked = tell, asked
        self.queue: deque[Handed | threading.Event] = deque()
        """Steps in order; an event is set when all before it is judged."""
        self.wake = threading.Event()
        self.thread: threading.Thread | None = None
        self.over = False
        self.urgent = False
        """Somebody waits for the judge: it takes no rest."""
        self.judge = Judge(asked)
        self.last = StepRef(iteration=0, step=0)
        self.steps = 0
        self.given = self.changed = 0
        """Steps handed over, and how many they were when `every` changed."""
        self.every = 1
        """Of the steps without a fact one in so many is judged."""
        self.skipped = self.thinned = 0
        """Steps not judged since the last that is, and in the whole run, because the judge cannot keep up."""
        self.dropped = 0
        self.share = SHARE
        """Of the time, that judging may take."""
        self.judge_s = 0.0
        """CPU seconds of the judge; written by its thread alone, while there is one."""

    def rest(self, rests: bool) -> None:
        """Judge fewer steps while all rests, as many as ever when it works again."""
        self.share = REST_SHARE if rests else SHARE

    def hand_over(
        self, rank: int, steps: Sequence[tuple[int, int, Mapping[str, float]]], stand_out: Sequence[bool]
    ) -> None:
        """Hand over steps without facts, each with the number of the backward after it; those that are not wanted are
        counted as left out."""
        for (step, iteration, values), stands_out in zip(steps, stand_out, strict=True):
            if stands_out or self.every == 1 or self.thread is None or (self.given + 1) % self.every == 0:
                self.step(StepRef(iteration=max(iteration - 1, 0), step=step, rank=rank), values, (), stands_out)
            else:
                self.given += 1
                self.skipped += 1
                self.thinned += 1

    def step(self, ref: StepRef, values: Mapping[str, float], facts: Sequence[Fact], stands_out: bool = False) -> None:
        """Hand over a step; one that stands out is judged however late the judge is. Under a microsecond, and no system
        call."""
        if self.thread is None:
            self.start()
        self.given += 1
        if not facts:
            if self.given % self.every and not stands_out:
                self.skipped += 1
                self.thinned += 1
                return
            if len(self.queue) >= BACKLOG:
                self.dropped += 1
                return
        self.queue.append(handed((ref, values, facts, self.skipped, stands_out)))
        self.skipped = 0
        if self.given <= FIRST_STEPS:
            self.wake.set()  # what is wrong from the start is told while its first steps can be executed again
        if self.given - self.changed >= LATE:
            self.thin()

    def thin(self) -> None:
        """Take fewer steps where the judge is late, more where it has caught up."""
        waiting = len(self.queue)
        if waiting >= LATE:
            self.every, self.changed = 2 * self.every, self.given
        elif waiting < SOON and self.every > 1:
            self.every, self.changed = self.every // 2, self.given

    def start(self) -> None:
        """Start the judge's thread."""
        self.over = False
        self.wake.clear()
        self.thread = threading.Thread(target=self.work, name="debug-tracer-judge", daemon=True)
        self.thread.start()

    def work(self) -> None:
        """Run the loop of the judge's thread: a slice, then a rest."""
        pace, before, is_thin = Pace(), self.judge_s, False
        while not self.over or self.queue:
            if self.over and not is_thin:
                is_thin = True
                self.thin_rest()
            if not (self.over or self.urgent):
                self.wake.wait(pace.rest(bool(self.queue), self.share))
                self.wake.clear()
            pace.took(self.judge_some(pace.steps))
            self.judge_s = before + pace.used_s

    def thin_rest(self) -> None:
        """Leave out steps at the end of a run of which so many wait that every other one was left out before, all but
        a thousand; what has facts or stands out is judged, and the last step. Called in the
        judge's thread when nothing is handed over any more."""
        waiting = list(self.queue)
        if len(waiting) <= LATE:
            return
        every, skipped = -(-len(waiting) // REST), 0
        kept: list[Handed | threading.Event] = []
        for number, item in enumerate(waiting, 1 - len(waiting)):
            if not isinstance(item, Handed):
                kept.append(item)
            elif item.facts or item.stands_out or number % every == 0:
                kept.append(item._replace(skipped=item.skipped + skipped))
                skipped = 0
            else:
                skipped += 1 + item.skipped
                self.thinned += 1
        self.queue.clear()
        self.queue.extend(kept)

    def judge_some(self, most: int) -> int:
        """Judge so many steps at most; return how many they were."""
        for count in range(most):
            try:
                item = self.queue.popleft()
            except IndexError:
                return count
            if isinstance(item, threading.Event):
                self.urgent = False
                item.set()
            else:
                self.take(item.ref, item.values, item.facts, item.skipped)
        return most

    def take(self, ref: StepRef, values: Mapping[str, float], facts: Sequence[Fact], skipped: int = 0) -> None:
        """Judge one step; called in the judge's thread."""
        self.last = ref
        self.steps += bool(values)
        try:
            for finding in self.judge.judge(ref, values, facts, skipped=skipped):
                self.tell(finding)
        except Exception as error:
            self.fail(error)

    def catch_up(self) -> bool:
        """Wait until all steps so far are judged; False when that took too long."""
        if self.thread is None or not self.thread.is_alive() or self.thread is threading.current_thread():
            return True
        reached = threading.Event()
        self.queue.append(reached)
        self.urgent = True
        self.wake.set()
        return reached.wait(INCIDENT_S)

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
            self.over = True
            self.wake.set()
            self.thread.join(PATIENCE_S)
            if self.thread.is_alive():
                return False
            self.thread = None
        begin = thread_time()
        try:
            for finding in self.judge.end(self.last if ref is None else ref, facts):
                self.tell(finding)
        except Exception as error:
            self.fail(error)
        self.judge_s += thread_time() - begin
        return True

    def reset(self) -> None:
        """Reset to an empty state in a forked child; the thread stayed with the parent."""
        self.__init__(self.tell, self.asked)  # type: ignore[misc]
