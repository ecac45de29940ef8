"""Is an overlap in the loss one of probabilities, and made larger?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.overlap_loss import OverlapLoss
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class OverlapMisread(Check, frozen=True):
    """A Dice or intersection-over-union loss takes raw scores for probabilities, or makes the overlap smaller.

    What it catches
        A Dice loss of one's own that is given the output of the last layer without a sigmoid or softmax; one that
        returns the coefficient itself where one less it was meant.
    Why it matters
        Scores can be negative, so the quotient is no overlap: it can pass 1, and its denominator can be 0. A
        coefficient that is minimised leads to a prediction that avoids what it is to find, while the loss goes to 0
        and looks perfect.
    How it decides
        Autograd's graph says that the loss adds up a quotient whose numerator is the sum of a prediction times a mask
        of zeros and ones that is summed, too, and whose denominator has the sum of that prediction, or of its square,
        among its terms. In `looks` inspected steps the prediction is the output of a linear layer or convolution as it
        is, or the sign of the quotient in the loss is plus. A share of the prediction alone may be made smaller.
    What to do
        Squash the scores first; return 1 - dice.
    Example
        step 1, rank 0: the overlap in the loss (train.py:18) with a mask of shape (32, 1, 24, 24) is that of the output
        of a convolution (train.py:17), in 2 looks: scores of both signs; expected probabilities. Give it
        torch.sigmoid(scores).
    """

    needs: ClassVar[tuple[type[OverlapLoss]]] = (OverlapLoss,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "squash the scores first: torch.sigmoid(scores), of several classes scores.softmax(1)",
    )
    proved_by: ClassVar[str] = "model/kelp_rafts"

    looks: int = 2
    """Inspected steps in which it is seen (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once for each of both."""
        memory = window.memory(self)
        for fact in window.new(OverlapLoss):
            for falls in (True, False):
                if not (fact.falls if falls else fact.layer):
                    continue
                key = falls, fact.frame
                steps = memory[key] = memory.get(key, set()) | {fact.ref.step}
                if len(steps) == self.looks and fact.ref.step == max(steps):
                    yield (self.smaller if falls else self.scores)(window, fact)

    def scores(self, window: Window, fact: OverlapLoss) -> Finding:
        """The prediction is not squashed."""
        return self.finding(
            window,
            "warning",
            f"the overlap in the loss{spot(fact.frame)} with a mask of shape {fact.shape} is that of the output of a "
            f"{fact.layer}{spot(fact.product_frame)}, in {self.looks} looks: scores of both signs; expected "
            "probabilities. Give it torch.sigmoid(scores).",
            ref=fact.ref,
            place=Place(frame=fact.product_frame, symptom_frame=fact.frame),
        )

    def smaller(self, window: Window, fact: OverlapLoss) -> Finding:
        """The loss falls where the overlap does."""
        return self.finding(
            window,
            "warning",
            f"the loss grows with the overlap{spot(fact.frame)} of a prediction with a mask of shape {fact.shape}, in "
            f"{self.looks} looks: training makes the overlap smaller; expected one less the overlap. Subtract it from "
            "1.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.product_frame),
            remedies=("subtract the coefficient from 1: return 1 - dice", "or take its negative: -dice"),
        )
