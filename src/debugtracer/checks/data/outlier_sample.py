"""Does one sample make the loss of its batch?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.loss_rows import LossRows
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class OutlierSample(Check, frozen=True):
    """One row has more than half of the loss of a step that stands out.

    What it catches
        A corrupt or mislabelled sample, a target in another unit.
    Why it matters
        The update of that step is the update of one sample.
    How it decides
        When a loss is a quarter above all of the last 32, the losses of its rows are read from what the loss function
        saved for its backward (no forward runs again). A row above median + `mads` MAD that has more than `share` of
        the sum is named, unless it has less than `least` times what a row had in the first losses: of a loss near 0 one
        sample always has most, and one that is not learnt yet is no news. Where the usual loss is below `learnt` of the
        first ones, a loss that is below those is left alone: what is learnt but for a few samples. The first of a run,
        and later only a row with a larger loss than all before and `beyond` times as many losses of its median row:
        data with heavy tails has such rows all the time. Always a note: honest samples are hard too.
    What to do
        Look at the sample before you drop it; clip, or use a loss with bounded influence (Huber).
    Example
        step 77, rank 0: row 8 (sample 1240) has 99 % of a loss of 1.6e+04; the median row has 0.004; expected many rows
        to share it. Look at the sample.
    """

    needs: ClassVar[tuple[type, ...]] = (LossRows,)
    kind: ClassVar[str] = "data_hard_samples"
    symptom: ClassVar[str] = "loss_spike"
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the sample, and repair its values or its label",
        "use a loss with bounded influence (Huber), or clip",
    )
    proved_by: ClassVar[str] = "data/watt_record"

    mads: float = 8.0  # MAD above the median row (ours)
    # of the summed loss (the same; of the loss instead of the gradient, which would take a backward for each row)
    share: float = 0.5
    # times the largest distance before it, both in losses of the median row (ours, as of data/hard-samples)
    beyond: float = 2.0
    # times the median of the first losses, of the loss of the row (ours: a model that knows nothing gives each row one;
    # two standard deviations of a target that is scaled, or 6 % for the right one of two classes, are 4)
    least: float = 4.0
    learnt: float = 0.05  # of the first losses (as data/label-noise-batch)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for the first step, and for one that is farther out than all before."""
        memory = window.memory(self)
        for fact in window.new(LossRows):
            # a mean over the rows as much as their sum
            if fact.top_share * fact.rows * as_float(fact.value) < self.least * as_float(fact.first):
                continue
            if as_float(fact.usual) < self.learnt * as_float(fact.first) > self.learnt * as_float(fact.value):
                continue
            first = fact.top[0] if fact.top else None
            limit = as_float(fact.median) + self.mads * as_float(fact.mad)
            if first is None or fact.rows < 4 or fact.top_share <= self.share or as_float(first.loss) <= limit:
                continue
            far, known = as_float(first.loss) / max(as_float(fact.median), 1e-12), memory.get("far", 0.0)
            largest = memory.get("loss", 0.0)
            memory["far"], memory["loss"] = max(far, known), max(as_float(first.loss), largest)
            if far < self.beyond * known or as_float(first.loss) <= largest:
                continue
            who = f"row {first.row}" if first.row >= 0 else "one row"
            who += f" (sample {first.sample})" if first.sample is not None else ""
            yield self.finding(
                window,
                "note",
                f"{who} has {100 * fact.top_share:.0f} % of a loss of {as_float(fact.value):.3g}; the median row has "
                f"{as_float(fact.median):.3g}; expected "
                "many rows to share it. Look at the sample.",
                ref=fact.ref,
                place=Place(
                    batch_rows=(first.row,) if first.row >= 0 else None,
                    sample_index=(first.sample,) if first.sample is not None else None,
                ),
                share=fact.top_share,
                loss=as_float(first.loss),
            )
