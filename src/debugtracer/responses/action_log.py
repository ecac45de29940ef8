"""Every action as an event, as a line on stderr while they are few, and with its effect some steps later."""

from __future__ import annotations

import math
import statistics
import sys
from collections import Counter, deque
from collections.abc import Callable, Sequence
from time import time as wall_time

from debugtracer.notify.notice import Notice
from debugtracer.notify.notices import Notices
from debugtracer.recorder.output.output import Output
from debugtracer.responses.bad_step import BadStep, SeenBatch
from debugtracer.trace.events import Acted, ActionEffect

AFTER = 20  # steps after which the effect of an action is measured (ours: longer than the noise of single batches)
LOUD = 3  # actions of a kind told one by one; then the 4th, 8th, 16th ... of all
SHOWN = 8  # samples named in a line
GRAVE = {"stop": "error", "roll-back": "warning"}  # the others are notes
NEVER = sys.maxsize
STOP, UNDO = "stop", "undo"


class ActionLog:
    """One per process."""

    def __init__(self, output: Output, losses: Callable[[], Sequence[float]], notices: Notices) -> None:
        self.output, self.losses = output, losses
        self.notices = notices
        self.reset()

    def reset(self) -> None:
        """Reset for a new run: nothing was done yet."""
        self.count = 0
        self.kinds: Counter[str] = Counter()
        self.steps_answered = 0
        """Bad steps of training that something was done about; what is noted beside them is no further one."""
        self.due = NEVER
        """The step at which an effect is measured next."""
        self.waiting: deque[tuple[int, float | None, int]] = deque()
        """Step, loss and number of the steps whose effect is not measured yet."""
        self.reasons: list[str] = []
        self.told: set[str] = set()

    def refused(self, reasons: list[str]) -> None:
        """Keep why smaller responses were refused, for the action that follows."""
        self.reasons = reasons

    def took(self, bad: BadStep, slug: str, done: str) -> None:
        """Write an action down, and plan to measure its effect."""
        why = f" (less would not do: {'; '.join(self.reasons)})" if self.reasons else ""
        self.noted(bad, slug, f"{done}{why}", bad.samples)
        self.steps_answered += 1
        if slug == STOP:
            return  # nothing comes after it
        self.waiting.append((bad.step, self.usual(), self.steps_answered))
        self.due = self.waiting[0][0] + AFTER

    def noted(self, bad: BadStep | SeenBatch, slug: str, done: str, samples: tuple[int, ...] | None) -> None:
        """Write an action down, and print it while they are few; of stops that the program catches the first, second,
        fourth, eighth ..."""
        self.count += 1
        self.kinds[slug] += 1
        if slug == STOP and self.kinds[STOP] & (self.kinds[STOP] - 1):
            return
        self.output.event(
            Acted(
                at=wall_time(),
                rank=self.output.rank,
                trace_id=self.output.trace_id(bad.iteration),
                action=slug,
                iteration=bad.iteration,
                step=bad.step,
                reason=f"{bad.seen}; {done}",
                samples=samples,
            ),
            now=True,
        )
        if self.kinds[slug] <= LOUD or self.count & (self.count - 1) == 0 or slug == STOP:
            self.tell(bad, done)
        run = str(self.output.folder or "")
        text = f"step {bad.step}, rank {self.output.rank} - {bad.seen} - {done}"
        self.notices.tell(
            Notice(GRAVE.get(slug, "note"), slug, text, run, bad.step, self.output.rank, last=slug == STOP)
        )

    def tell(self, bad: BadStep | SeenBatch, done: str) -> None:
        """Print one line on stderr: where, what was seen, what was done, where to look."""
        samples = ""
        if bad.samples:
            samples = f" (dataset samples {named_first(bad.samples, bad.guilty)})"
        many = f", action {self.count} of this run" if self.count > 1 else ""
        expected = "" if isinstance(bad, SeenBatch) and bad.asked else " - expected finite numbers"
        print(
            f"debug-tracer: step {bad.step}, rank {self.output.rank}{many} - {bad.seen}{samples}{expected} - {done}. "
            f"`debug-tracer report {self.output.folder}` lists every action.",
            file=sys.stderr,
            flush=True,
        )

    def undid(self, bad: BadStep, why: str) -> None:
        """Write down that a response which lasts for a while was undone, because it had not helped."""
        self.noted(bad, UNDO, why, None)

    def left_alone(self, bad: BadStep, why: str) -> None:
        """Report once for each reason that a bad step was left to the program."""
        if why in self.told:
            return
        self.told.add(why)
        text = f"step {bad.step}, rank {self.output.rank} - {bad.seen} - nothing was done about it: {why}"
        self.output.note("responses", text)
        print(f"debug-tracer: {text} - the run goes on as in mode observe.", file=sys.stderr, flush=True)

    def usual(self) -> float | None:
        """The median of the last finite losses; None where there are too few."""
        known = [value for value in list(self.losses())[-AFTER:] if math.isfinite(value)]
        return statistics.median(known) if len(known) >= 3 else None

    def measure(self, step: int) -> None:
        """Write down what came of the oldest action that waits for it."""
        at, before, number = self.waiting.popleft()
        self.due = self.waiting[0][0] + AFTER if self.waiting else NEVER
        self.output.event(
            ActionEffect(
                at=wall_time(),
                rank=self.output.rank,
                step=at,
                after=step - at,
                loss_before=before,
                loss_after=self.usual(),
                bad=self.steps_answered - number,
                helped=self.steps_answered == number,
            )
        )


def named_first(samples: Sequence[int], guilty: Sequence[int]) -> str:
    """The samples of a line: those that a verdict names before the others, and how many are not shown."""
    ordered = [*(one for one in guilty if one in samples), *(one for one in samples if one not in guilty)]
    more = f" and {len(ordered) - SHOWN} more" if len(ordered) > SHOWN else ""
    return f"{', '.join(map(str, ordered[:SHOWN]))}{more}"
