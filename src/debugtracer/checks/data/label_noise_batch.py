"""Is a batch hard for all of its rows although its inputs are like the others?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import named
from debugtracer.trace.facts.batch_content import BatchOddity, BatchProfile
from debugtracer.trace.facts.loss_rows import LossRows
from debugtracer.trace.facts.lost_values import LostValues
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.went_back import WentBack
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

USUAL = 32  # losses whose spread is taken (as that of the loss that stands out)


class LabelNoiseBatch(Check, frozen=True):
    """All rows of a few batches are hard, their inputs are ordinary, and the next batch is as easy as ever.

    What it catches
        A shard whose labels were joined by the wrong key, shuffled or shifted by one.
    Why it matters
        It looks like an unstable optimizer. The model is taught the opposite of what it knows.
    How it decides
        The loss is a quarter above all of the last 32 in at most `longest` steps in a row, at least `raised` of the
        rows share that, no tensor of these batches was unlike the others (and their values were read) or was lost on
        the way, no layer was given zeros alone (a condition that is left out, a sensor that is missing), and the step
        after is back at the usual loss: the weights were sound. Each must be 4 robust deviations of what the last
        losses vary by above the usual loss, and one step alone 3 times that loss; else it is a note. Below a twentieth
        of the first loss it is a note. A learning rate that is too high heals slowly, and is left to the spike checks.
        Silent where several optimizers take turns, each with a loss of its own.
    What to do
        Compare the labels of these samples with their inputs; look at the join that made them.
    Example
        step 70, rank 0: the loss of 2 steps is 3.1 (usual 0.42) in 97 % of their rows, while the inputs are like all
        others and the next step is back (samples 1120..1151); expected labels that fit. Compare labels and inputs of
        these samples.
    """

    needs: ClassVar[tuple[str | type, ...]] = (LOSS, LossRows, BatchOddity, WentBack, LostValues, TurnsTaken)
    kind: ClassVar[str] = "data_label_noise"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "compare the labels of these samples with their inputs",
        "look at the join or the file these samples come from",
    )
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high",)
    proved_by: ClassVar[str] = "data/parcels_second_file"

    raised: float = 0.6  # share of the rows (ours)
    rows: int = 16  # rows in all; two rows are hard together by chance (ours)
    alone: float = 3.0  # times the usual loss: one step alone is a warning, else a note (ours)
    deviations: float = 4.0  # of the logarithm of the last losses (ours)
    learnt: float = 0.05  # of the first loss: below it the hard rows of a model that has learnt them are a note (ours)
    longest: int = 7  # steps in a row (as data/hard-samples)
    back: float = 1.15  # times the usual loss: the next step is back (ours)
    looks: int = 20  # batches whose values were read, else nothing is known of the inputs (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A warning when the loss is back."""
        notes = window.memory(self)
        rows: dict[int, LossRows] = notes.setdefault("rows", {})
        odd: set[int] = notes.setdefault("odd", set())
        rows.update({fact.ref.step: fact for fact in window.new(LossRows)})
        odd.update(
            f.ref.step for f in window.new(BatchOddity) if f.what in ("content", "range", "nonfinite", "ngram", "blank")
        )
        odd.update(fact.ref.step for fact in window.new(LostValues))
        loss = window.now(LOSS)
        if loss is None:
            return
        notes.setdefault("first", abs(loss))
        step = window.ref.step
        run: list[LossRows] = notes.setdefault("run", [])
        if step in rows:
            run.append(rows.pop(step))
            return
        notes["run"] = []
        steps = {fact.ref.step for fact in run}
        if (
            run
            and len(run) <= self.longest
            and loss <= self.back * as_float(run[0].usual)
            and not steps & odd
            and not any(fact.ref.step >= run[0].ref.step for fact in window.seen(WentBack))
            and not window.seen(TurnsTaken)  # an actor's and a critic's loss are in one series
            and self.inputs_known(window)
        ):
            yield from self.describe(window, run)
        odd -= {n for n in odd if n < step}

    def inputs_known(self, window: Window) -> bool:
        """True if the values of enough batches were read; that of a loss that stands out always is."""
        profile = window.last(BatchProfile)
        return profile is not None and profile.looked >= self.looks

    def stands_alone(self, window: Window, value: float, usual: float) -> bool:
        """Whether one step alone is far above the usual loss, also in the unit of what the loss of a batch varies
        by."""
        return value > self.alone * usual and self.stands_out(window, value, usual)

    def stands_out(self, window: Window, value: float, usual: float) -> bool:
        """Whether a loss is far above the usual one in the unit of what the loss of a batch varies by: small batches
        behind a batch norm share their error, and the last microbatch of an accumulation stands for all."""
        logs = [math.log(v) for v in list(window.series.get(LOSS, ()))[-USUAL:] if math.isfinite(v) and v > 0]
        if not usual > 0 or not logs:
            return value > usual
        middle = median(logs)
        spread = 1.4826 * median([abs(v - middle) for v in logs])
        return math.log(value / usual) > self.deviations * spread

    def describe(self, window: Window, run: list[LossRows]) -> Iterator[Finding]:
        """Yield a finding that names the samples of a run of bad batches."""
        raised = min(fact.raised for fact in run)
        if raised < self.raised or sum(fact.rows for fact in run) < self.rows:
            return
        value, usual = min(as_float(fact.value) for fact in run), as_float(run[0].usual)
        loud = (self.stands_out if len(run) > 1 else self.stands_alone)(window, value, usual)
        loud &= as_float(run[0].value) > self.learnt * window.memory(self)["first"]
        samples: tuple[Any, ...] = tuple(dict.fromkeys(s for fact in run for s in fact.samples or ()))
        of = f" ({named(samples)})" if samples else ""
        profile = window.last(BatchProfile)
        frame = (profile.loader.made_at or profile.loader.frame) if profile is not None else None
        many = f"{len(run)} steps" if len(run) > 1 else "one step"
        yield self.finding(
            window,
            "warning" if loud else "note",
            f"the loss of {many} is {max(as_float(f.value) for f in run):.3g} (usual {as_float(run[0].usual):.3g}) in "
            f"{100 * raised:.0f} % of their rows, while the inputs are like all others and the next step is back{of}; "
            "expected labels that fit. Compare labels and inputs of these samples.",
            ref=run[0].ref,
            place=Place(frame=frame, sample_index=samples or None),
            raised=raised,
            steps=len(run),
        )
