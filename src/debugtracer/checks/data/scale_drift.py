"""Do the inputs stay on their scale?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import at_loader, which
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ScaleDrift(Check, frozen=True):
    """The mean or spread of an input moves to another level and stays there.

    What it catches
        A new shard without the preprocessing of the others (0..255 beside 0..1), a normalisation that was changed, a
        sensor recalibrated.
    Why it matters
        The model sees inputs that its weights were not made for; the loss steps up and the first layers are torn away.
    How it decides
        The robust z of the batch mean or standard deviation against the last 64 looks is beyond 8 in `batches` looks in
        a row, one more for each time before that this input strayed for a moment (data with heavy tails). It is a
        warning when the standard deviation is `factor` times the usual one or less than its inverse, or the mean moved
        by `factor` usual standard deviations; smaller moves (sorted data) are a note, and nothing where they begin with
        a pass over the loader: a curriculum, another task or stage.
    What to do
        Bring the new part of the data to the scale of the old one, in the dataset.
    Example
        step 82, rank 0: the std of batch[0] is 73.1 in 3 batches in a row, up to batch 82 of Tiles (train.py:22); usual
        is 0.288; expected one scale. Bring all files to one scale in the dataset.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity,)
    kind: ClassVar[str] = "data_scale_drift"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "bring the new part of the data to the scale of the old one, in the dataset",
        "shuffle over all files",
    )
    proved_by: ClassVar[str] = "data/raw_tiles"

    batches: int = 3  # looks in a row (ours)
    most: int = 7  # looks in a row after strays (ours: the eighth is learnt as the usual)
    # times the usual standard deviation (ours: units and pixel ranges differ by more, curricula by less)
    factor: float = 10.0

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding when the third batch in a row is far away."""
        runs = window.memory(self)
        for fact in window.new(BatchOddity):
            if fact.what == "content" and fact.detail in ("mean", "std"):
                key = (fact.loader.number, fact.path)
                known = runs.setdefault(key, {})
                known.setdefault(fact.looked, {})[fact.detail] = fact
                begin = fact.looked
                while begin - 1 in known:
                    begin -= 1
                strays = sum(looked < begin and looked - 1 not in known for looked in known)
                if fact.training and fact.looked - begin + 1 == min(self.batches + strays, self.most):
                    yield from self.describe(window, fact, known[begin], fact.looked - begin + 1)

    def describe(
        self, window: Window, fact: BatchOddity, first: dict[str, BatchOddity], looks: int
    ) -> Iterator[Finding]:
        """How far, since when, and for how many looks."""
        value, usual = as_float(fact.value), as_float(fact.usual)
        if fact.detail == "std":
            ratio = max(abs(value), 1e-30) / max(abs(usual), 1e-30)
            loud = not 1 / self.factor < ratio < self.factor
        else:
            # the spread is at least 0.02 standard deviations
            loud = abs(value - usual) > self.factor * 50 * as_float(fact.spread)
        if not loud and next(iter(first.values())).batch == 0:
            return
        yield self.finding(
            window,
            "warning" if loud else "note",
            f"the {fact.detail} of {fact.path} is {value:.3g} in {looks} batches in a row, up to "
            f"{which(fact.batch, fact.loader)}; usual is "
            f"{usual:.3g}; expected one scale. Bring all files to one scale in the dataset.",
            ref=next(iter(first.values())).ref,
            place=Place(frame=fact.made[0], symptom_frame=fact.loader.frame) if fact.made else at_loader(fact.loader),
            value=value,
            usual=usual,
        )
