"""Do the batch norms of a frozen part keep the statistics that its weights were trained with?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.moved_statistics import MovedStatistics
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class StatisticsMoved(Check, frozen=True):
    """A frozen part is left in training mode, and the running statistics of its batch norms move to other data.

    What it catches
        `requires_grad_(False)` on a pretrained backbone, and `model.train()` before each epoch: gradients are off,
        running means and variances are not.
    Why it matters
        What was to stay as it is changes with every batch: whatever else uses the part (an earlier head, a stored
        index, a published model) gets other features, and training sees others than evaluation does.
    How it decides
        When the run is over: batch norms in training mode whose weights and all before them are frozen and stayed to
        the bit as they were, in `steps` updates. Their statistics had been learnt before: neither mean 0 and variance 1
        nor a few batches old. The running mean of half of the channels of one moved by `gap` deviations or more, or the
        variance by `ratio` times. Silent where the program put these norms into training mode one by one (statistics
        that are to adapt), where weights are copied into the part, and where it trains later.
    What to do
        `backbone.eval()` after each `model.train()`, best in a `train()` of the model's own.
    Example
        step 240, rank 0: 2 batch norms of a frozen part (stem.1, ... of Leaves; frozen (train.py:38)) went on to take
        the statistics of the batches for 240 updates, in training mode (train.py:41): the running mean of stem.1 moved
        by 1.9 of its own deviations; expected those its weights were trained with. Call model.stem.eval() after
        model.train().
    """

    needs: ClassVar[tuple[type[MovedStatistics]]] = (MovedStatistics,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "train_eval_mode"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "put the frozen part into evaluation mode after each train(), best in a train() of the model's own",
        "for adapted statistics say so: put these batch norms into training mode one by one",
    )
    proved_by: ClassVar[str] = "model/leaf_scans"

    steps: int = 20  # updates (ours: torch's momentum of 0.1 leaves 12 % of what was there before)
    gap: float = 0.5  # deviations (ours: that of statistics-lag)
    ratio: float = 2.0  # either way (ours: small batches vary by 1.2)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each part once."""
        for fact in window.new(MovedStatistics):
            gap, ratio = float(fact.gap), float(fact.ratio)
            self.measured(window, "move of a running mean, deviations", gap, self.gap)
            if fact.steps < self.steps or (gap < self.gap and ratio < self.ratio):
                continue
            frame = fact.frame or fact.frozen_by or fact.called_at
            advice = advice_for(fact)
            yield self.finding(
                window,
                "warning",
                f"{norms(fact)} went on to take the statistics of the batches for {fact.steps} updates, in training "
                f"mode{spot(fact.frame)}: the running {self.seen(fact, gap, ratio)}; expected those its weights were "
                f"trained with. Call {advice}.",
                ref=fact.ref,
                place=Place(frame=frame, module=fact.module),
                remedies=(f"call {advice}, best in a train() of the model's own", *self.remedies[1:]),
                gap=gap,
                ratio=ratio,
                norms=float(fact.norms),
            )

    def seen(self, fact: MovedStatistics, gap: float, ratio: float) -> str:
        """What moved, and how far."""
        where = f" of {fact.furthest}" if fact.norms > 1 else ""
        if gap >= self.gap:
            return f"mean{where} moved by {gap:.2g} of its own deviations"
        return f"variance{where} is {ratio:.2g} times off what it was"


def norms(fact: MovedStatistics) -> str:
    """How many, the first, and where they were frozen."""
    by = f"; frozen{spot(fact.frozen_by)}" if fact.frozen_by is not None else ""
    if fact.norms == 1:
        return f"the batch norm {fact.module} of a frozen part ({fact.root}{by})"
    return f"{fact.norms} batch norms of a frozen part ({fact.module}, ... of {fact.root}{by})"


def advice_for(fact: MovedStatistics) -> str:
    """The call to make, as near to the program's own words as is known."""
    code = fact.frame.code.partition("#")[0].strip() if fact.frame is not None else ""
    name = code.removesuffix(".train()").removesuffix(".train(True)")
    plain = name != code and name.replace(".", "").isidentifier() and fact.on_root
    if fact.whole:
        return f"{name}.eval() instead" if plain else "eval() on it after every train()"
    if fact.part:
        return f"{name}.{fact.part}.eval() after {code}" if plain else f"eval() on its {fact.part} after every train()"
    return f"eval() on its frozen parts after every {code if plain else 'train()'}"
