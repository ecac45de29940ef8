"""Does the loop spend its time on waiting for batches?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.core_queue import CoreQueue
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.place import Place
from debugtracer.trace.window import STEP_S, WAIT_S, Window

ROUNDING = 0.999  # a sum from the other end differs in its last digits (ours)

ONCE = "read and parse it once, in __init__, and take the sample from memory"


class LoaderBound(Check, frozen=True):
    """Most of a step is spent waiting for the DataLoader.

    What it catches
        Decoding, augmentation or slow storage in the training process, or too few workers for what a sample costs.
    Why it matters
        The model waits. A run that waits 90 % of its time could be ten times as fast on the same machine.
    How it decides
        The median share of wait time in the last 50 steps, after 20 of warm-up, or after 5 once 2 s were waited for.
        Waits below 10 ms a step or 2 s in all are of no concern. Above 20 % of the step it is a note, above 50 % a
        warning. On a busy machine, where the training thread itself stood in the queue for a core for half of
        the time, it stays a note that says so: on free cores the same loader may be fast enough.
    What to do
        Give the loader workers, cache what is decoded, or decode at the size the model needs.
    Example
        step 9, rank 0: 95 % of a step is waiting for batches (median 0.61 s of 0.64 s over 8 steps); Thumbnails is read
        by 0 workers on 2 cores; expected below 20 %. Give the DataLoader workers (num_workers=2), or cache decoded
        samples.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (WAIT_S, LoaderSeen)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "slow_dataloader"
    symptom: ClassVar[str] = "none"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "DataLoader(..., num_workers=4, persistent_workers=True): samples are prepared while the model works",
        "decode and resize once, and read the results from a cache",
    )
    proved_by: ClassVar[str] = "data/parsed_in_loop"

    share: float = 0.2  # share of step time (ours)
    loud: float = 0.5  # share of step time from which it is a warning (ours: the run could be twice as fast)
    steps: int = 50  # steps of the median (ours)
    warmup: int = 20  # steps before anything is said (ours: workers start, caches fill)
    early: int = 5  # steps that are enough when `early_s` were waited (ours)
    early_s: float = 2.0  # seconds (ours)
    least_s: float = 0.01  # seconds of waiting per step below which nobody cares (ours)
    total_s: float = 2.0  # seconds of waiting in the steps looked at (ours)
    queued: float = 0.5  # share of the time without a core from which the machine is busy (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding at each severity."""
        last_waits = itertools.islice(reversed(window.series.get(WAIT_S, ())), self.steps)
        if sum(last_waits) < ROUNDING * self.total_s and not window.ended:  # as a rule, and before anything is copied
            return
        waits, steps = list(window.series.get(WAIT_S, ())), list(window.series.get(STEP_S, ()))
        count = min(len(waits), len(steps)) - 2  # the first steps hold what happened before the loop
        enough = count >= self.warmup or (count >= self.early and sum(waits[2:]) >= self.early_s)
        if not enough or (window.now(WAIT_S) is None and not window.ended):
            return
        last = min(count, self.steps)
        waits, steps = waits[-last:], steps[-last:]
        share = median(w / s for w, s in zip(waits, steps, strict=True) if s > 0)
        self.measured(window, "share of a step that waits for batches", share, self.share)
        queued = queued_share(window)
        severity: Severity = "warning" if share > self.loud and queued < self.queued else "note"
        memory = window.memory(self)
        if share <= self.share or median(waits) < self.least_s or sum(waits) < self.total_s or severity in memory:
            return
        memory[severity] = True
        yield self.describe(window, severity, share, waits, steps, queued)

    def describe(
        self, window: Window, severity: Severity, share: float, waits: list[float], steps: list[float], queued: float
    ) -> Finding:
        """Build the finding with the loader that trains and its number of workers."""
        loader = next((fact for fact in reversed(window.seen(LoaderSeen)) if fact.trains), None)
        read = (
            f"; {loader.dataset} is read by {loader.workers} workers on {loader.cores} cores"
            if loader is not None
            else ""
        )
        advice = "Cache decoded samples, or make them cheaper."
        if loader is not None and loader.workers < loader.cores:
            advice = f"Give the DataLoader workers (num_workers={max(loader.cores - 1, 2)}), or cache decoded samples."
        again = loader.rereads if loader is not None else None
        if again is not None:
            read += f"; {file_line(again)} reads the same file for each sample"
            advice = "Read it once, in __init__."
        if queued >= self.queued:
            read += f"; the training thread had no core for {100 * queued:.0f} % of the time, others use them"
            advice = f"Measure on free cores first. {advice}"
        return self.finding(
            window,
            severity,
            f"{100 * share:.0f} % of a step is waiting for batches (median {median(waits):.2g} s of "
            f"{median(steps):.2g} s over {len(waits)} steps){read}; "
            f"expected below {100 * self.share:.0f} %. {advice}",
            place=Place(frame=again or loader.frame, symptom_frame=loader.frame if again else None)
            if loader is not None
            else Place(),
            remedies=(ONCE, *self.remedies) if again is not None else (),
            share=share,
            wait_s=median(waits),
            step_s=median(steps),
        )


def queued_share(window: Window) -> float:
    """The share of the time in which the training thread could have run and had no core; 0 where it is not known."""
    seen = window.seen(CoreQueue)
    wall_s = sum(fact.wall_s for fact in seen)
    return sum(fact.queued_s for fact in seen) / wall_s if wall_s > 0 else 0.0
