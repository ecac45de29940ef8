"""Is a classifier right before it has learnt anything?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.checkpoint import Resumed
from debugtracer.trace.facts.former_run import FormerRun
from debugtracer.trace.facts.logit_scale import LogitScale
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ScoresHoldTargets(Check, frozen=True):
    """In the first batches the right class has by far the largest score in every row.

    What it catches
        A margin that raises the score of the right class where it should lower it: an angle in degrees where radians
        are meant, a sign turned round; a mask made of the targets that is added to the scores.
    Why it matters
        The loss is 0 and the accuracy 1 from the first batch on, so that nothing is learnt: the scores were made with
        the answer.
    How it decides
        In the first `looks` inspected steps, from step 0 on, the cross-entropy of a line over three classes or more is
        at most `loss` in at least `rows` rows, and the largest score lies on average `gap` above the second. Nobody is
        right in all rows of a new task by chance. Not where weights were loaded: a trained network may be that sure;
        nor where the targets are places of partners and no classes: two views of one row may be alike from the start.
        The line is that of an angle beyond a full turn which a sine or cosine on the way to the scores is given.
    What to do
        Find the line that adds to the score of the right class, and print what it adds.
    Example
        step 0, rank 0: cross_entropy (focal.py:21) was 0 in the 32 rows of each of the first 3 batches, the largest of
        40 scores lies 267 above the second; expected scores that do not know the target before anything is learnt.
        Find what adds to the score of the right class: a margin in degrees where radians are meant?
    """

    needs: ClassVar[tuple[type, ...]] = (LogitScale,)
    kind: ClassVar[str] = "label_leak"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "find what adds to the score of the right class: a margin is to lower it, and its angle is in radians (0.5)",
        "print the scores of one row with its own target and with another one: the others must not know it",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "model/harbour_seals"

    looks: int = 3  # batches (ours: all that are looked at from the start)
    loss: float = 1e-6  # nats (ours: float32 has 0 there)
    gap: float = 40.0  # between the first and the second score (ours: trained networks reach 10 to 30)
    rows: int = 8  # of each batch (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the first looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(LogitScale):
            seen: list[LogitScale] = memory.setdefault(fact.frame, [])
            if len(seen) >= self.looks or (not seen and fact.ref.step):
                continue
            seen.append(fact)
            loaded = window.last(Resumed) is not None or window.last(FormerRun) is not None
            if len(seen) == self.looks and all(map(self.is_known, seen)) and not loaded:
                yield self.describe(window, seen)

    def is_known(self, fact: LogitScale) -> bool:
        """Whether all rows of a batch are right by far."""
        sure = as_float(fact.loss) <= self.loss and as_float(fact.gap) >= self.gap
        return sure and not fact.pairs and fact.classes > 2 and fact.rows >= self.rows

    def describe(self, window: Window, seen: list[LogitScale]) -> Finding:
        """Build the finding with the least gap."""
        first, gap = seen[0], min(as_float(fact.gap) for fact in seen)
        frame = first.angle_frame
        advice = (
            f"{first.taken_by} is given {as_float(first.angle):g}{spot(frame)} and takes radians, of which a full turn "
            f"has {math.tau:.3g}. Were degrees meant? Then pass math.radians({as_float(first.angle):g})."
            if first.angle is not None
            else "Find what adds to the score of the right class: a margin in degrees where radians are meant?"
        )
        return self.finding(
            window,
            "warning",
            f"cross_entropy{spot(first.frame)} was {as_float(first.loss):.2g} in the {first.rows} rows of each of the "
            f"first {len(seen)} batches, the largest of {first.classes} scores lies {gap:.3g} above the second; "
            f"expected scores that do not know the target before anything is learnt. {advice}",
            ref=first.ref,
            place=Place(frame=frame or first.frame, symptom_frame=first.frame if frame is not None else None),
            gap=gap,
            classes=first.classes,
        )
