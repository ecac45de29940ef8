"""Does the validation loss rise while the training loss goes on falling?"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from debugtracer.checks.check import Check
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import DEPTH, LOSS, VAL_LOSS, Window

# standard deviations of an evaluation's noise (ours: 3 fires in 21 of 60 runs of 1,000 noisy evaluations, 5 in one)
NOISE = 5.0


class Evaluation(NamedTuple):
    """One validation loop."""

    step: int
    val: float
    trained: float
    """Median training loss since the evaluation before."""


class ValidationGap(Check, frozen=True):
    """The validation loss rises while the training loss falls.

    What it catches
        Overfitting: the model learns its training samples by heart, or the validation data come from another
        distribution.
    Why it matters
        Every further step makes the model worse for new data; the best weights are behind, and may not have been saved.
    How it decides
        At each value of `val_loss`, beside the median training loss since the one before. The last `rises` evaluations
        each went up, the training loss went down over them, the gap is more than `gap` of the training loss, and the
        rise above the best evaluation is more than `rise` of it and more than 5 standard deviations of the noise, which
        is taken from second differences. Said once for each best value.
    What to do
        Go back to the checkpoint of the best evaluation and stop there; then more data or augmentation, dropout, weight
        decay, a smaller model.
    Example
        step 1200, rank 0: the validation loss rose 3 evaluations in a row to 0.912 while the training loss fell to
        0.211; the best was 0.604 at step 800; expected a gap below 10 % of the training loss, it is 332 %. Keep the
        weights of step 800.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (LOSS, VAL_LOSS)
    kind: ClassVar[str | None] = "overfitting"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.6
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the weights of the best evaluation and stop early",
        "more data or augmentation, then dropout, weight decay or a smaller model",
        "if the gap was there from the first evaluation: compare how the two data sets are made",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "optimizer/overfit_few_samples"
    rises: int = 3  # evaluations in a row (ours; smdebug says 1)
    # gap of validation over training loss, share of the training loss (smdebug Overfit: ratio_threshold 0.1)
    gap: float = 0.1
    # rise above the best validation loss, share of it (ours: noise of small validation sets stays below)
    rise: float = 0.1

    def judge(self, window: Window) -> Iterator[Finding]:
        """A warning at the evaluation that makes it certain."""
        memory = window.memory(self)
        since: deque[float] = memory.setdefault("since", deque(maxlen=DEPTH))
        loss, val = window.now(LOSS), window.now(VAL_LOSS)
        if loss is not None:
            since.append(loss)
        if val is None or not (since or memory.get("last")):
            return
        told: list[Evaluation] = memory.setdefault("evaluations", [])
        trained = statistics.median(since) if since else memory["last"].trained
        memory["last"] = now = Evaluation(window.ref.step, val, trained)
        since.clear()
        told.append(now)
        del told[:-DEPTH]
        best: Evaluation = memory.setdefault("best", now)
        if val <= best.val:
            memory["best"] = now
            memory["said"] = False
        elif not memory.get("said") and self.widens(told, best):
            memory["said"] = True
            yield self.describe(window, now, best)

    def widens(self, told: list[Evaluation], best: Evaluation) -> bool:
        """True when the gap meets the rule given in the docstring of the class."""
        last = told[-1 - self.rises :]
        now, vals = last[-1], [one.val for one in last]
        if len(last) <= self.rises or any(b <= a for a, b in pairwise(vals)) or now.trained >= last[0].trained:
            return False
        at = told.index(best) if best in told else 0
        # the least of many noisy values is lower than their level
        around = statistics.median(one.val for one in told[max(at - 1, 0) : at + 2])
        is_trend = statistics.median(vals[1:]) - around > NOISE * noise_of([one.val for one in told])
        return (
            is_trend
            and now.val - now.trained > self.gap * abs(now.trained)
            and now.val - best.val > self.rise * abs(best.val)
        )

    def describe(self, window: Window, now: Evaluation, best: Evaluation) -> Finding:
        """What rose, what fell, where it was best."""
        share = (now.val - now.trained) / abs(now.trained) if now.trained else float("inf")
        evidence: dict[str, Any] = {"val_loss": now.val, "loss": now.trained, "best": best.val, "best_step": best.step}
        return self.finding(
            window,
            "warning",
            f"the validation loss rose {self.rises} evaluations in a row to {now.val:.4g} while the training loss fell "
            f"to {now.trained:.4g}; the best was {best.val:.4g} at step {best.step}; expected a gap below "
            f"{self.gap:.0%} of the training loss, it is {share:.0%}. "
            f"Keep the weights of step {best.step}.",
            place=Place(frame=next((one.frame for one in window.seen(LoaderSeen) if one.trains), None)),
            **evidence,
        )


def noise_of(values: list[float]) -> float:
    """The standard deviation around a smooth curve, from the median of second differences; 0 of less than three
    values."""
    seconds = [abs(a - 2 * b + c) for a, b, c in zip(values, values[1:], values[2:], strict=False)]
    return 1.4826 * statistics.median(seconds) / 6**0.5 if seconds else 0.0
