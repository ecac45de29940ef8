"""Does a focal loss weigh each row by itself?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.focal_mean import FocalMean
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class FocalOfMean(Check, frozen=True):
    """A focal loss is made of the mean of the cross-entropy, not of its rows.

    What it catches
        `ce = F.cross_entropy(x, y); p = torch.exp(-ce); loss = (1 - p) ** gamma * ce`: `reduction="none"` is missing.
    Why it matters
        All rows share one weight, so hard and rare ones count no more than easy ones, which is all that a focal loss is
        for; and as the batch gets better its whole gradient fades.
    How it decides
        A cross-entropy of several rows is reduced to one number, the exponential of its negative makes a weight (`1 -
        p`, a power), and that weight is multiplied with the same number. A perplexity, and a weight that is made of
        another loss or without a graph, are left alone.
    What to do
        `reduction="none"` in the cross-entropy, `.mean()` after the product.
    Example
        step 0, rank 0: cross_entropy (train.py:18) is the mean of 32 rows, and exp of its negative (train.py:19) makes
        the weight it is multiplied with (train.py:20): one weight for all rows; expected one for each. Use
        reduction="none" and take the mean after the product.
    """

    needs: ClassVar[tuple[type[FocalMean]]] = (FocalMean,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        'make the cross-entropy of each row, reduction="none", and take the mean after the product',
        "print the shape of exp(-loss): it must be that of the labels",
    )
    proved_by: ClassVar[str] = "model/sloe_hedges"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a line; the observer tells each once."""
        for fact in window.new(FocalMean):
            yield self.finding(
                window,
                "warning",
                f"{fact.loss}{spot(fact.frame)} is the mean of {fact.rows} rows, and exp of its "
                f"negative{spot(fact.exp_frame)} makes the weight it is multiplied with{spot(fact.product_frame)}: one "
                'weight for all rows; expected one for each. Use reduction="none" and take the mean after the product.',
                ref=fact.ref,
                place=Place(frame=fact.built or fact.frame, symptom_frame=fact.product_frame),
                rows=float(fact.rows),
            )
