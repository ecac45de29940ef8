"""Are the scores of a similarity cosines?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.crossed_lengths import CrossedLengths
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class NormalisedAcross(Check, frozen=True):
    """Vectors are brought to a length of 1 along the samples or the positions, and then compared along their features.

    What it catches
        `F.normalize(z, dim=0)` or `z / z.norm(dim=0)` before `z @ z.T`; `F.normalize(x)` of (batch, positions,
        features), whose default is dimension 1.
    Why it matters
        No vector has a length of 1, so the products are no cosines: they depend on how many rows the batch has, are
        small for many of them, and a temperature made for -1..1 leaves the softmax nearly even. Each vector depends on
        the others of its batch.
    How it decides
        In `looks` inspected steps a factor of a matrix product is a quotient, all its lengths along one dimension are
        1, and the product sums over another one, along which they differ. What comes out goes into a softmax, a
        cross-entropy, a logsumexp or an exponential, scaled, masked or moved at most. A factor that is normalised along
        the dimension of the sum is right, whichever that is: columns of a weight, channels of a cross-covariance.
    What to do
        Normalise along the features: `F.normalize(z, dim=-1)`.
    Example
        step 0, rank 0: normalising (train.py:17) gives (96, 24) a length of 1 along dimension 0, and the product
        (train.py:18) sums over dimension 1, along which lengths are 0.31 to 0.74, in 2 looks; expected a length of 1
        there, so that what cross_entropy gets are cosines. Normalise along dimension 1.
    """

    needs: ClassVar[tuple[type[CrossedLengths]]] = (CrossedLengths,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "normalise along the features: F.normalize(z, dim=-1)",
        "or by hand: z / z.norm(dim=-1, keepdim=True)",
    )
    proved_by: ClassVar[str] = "model/thrush_songs"

    looks: int = 2
    """Inspected steps of the same line (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once for a line that normalises."""
        memory = window.memory(self)
        for fact in window.new(CrossedLengths):
            at = fact.made or fact.frame
            looks = memory.setdefault(at, {})
            if len(looks) >= self.looks:
                continue
            looks[fact.ref.step] = fact
            if len(looks) == self.looks:
                yield self.describe(window, next(iter(looks.values())))

    def describe(self, window: Window, fact: CrossedLengths) -> Finding:
        """Build the finding at the line that normalises."""
        low, high = as_float(fact.low), as_float(fact.high)
        return self.finding(
            window,
            "warning",
            f"normalising{spot(fact.made)} gives {fact.shape} a length of 1 along dimension {fact.unit}, and the "
            f"product{spot(fact.frame)} sums over dimension {fact.summed}, along which lengths are {low:.2g} to "
            f"{high:.2g}, in {counted(self.looks, 'look')}; expected a length of 1 there, so that what {fact.softmax} "
            f"gets are cosines. Normalise along dimension {fact.summed}.",
            ref=fact.ref,
            place=Place(module=fact.module, frame=fact.made or fact.frame, symptom_frame=fact.frame),
            low=low,
            high=high,
        )
