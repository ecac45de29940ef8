"""What the best constant answer would have cost beside what a loss did cost, in one inspected step."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number

Answer = Literal["classes", "shares", "mean", "median", "pairs"]


class ConstantAnswer(Fact, frozen=True, kw_only=True):
    """One call of a loss function whose targets differ. The constant is that of all targets seen at this line so far,
    and is charged on those of this call: both sides have the same noise."""

    KEEP = 64

    loss: str
    frame: Frame | None = None
    answer: Answer
    """What the constant is: shares of the classes, share of ones, mean or median of each column, no order of pairs."""
    value: Number
    """What a target cost on average."""
    called: Number
    """What the call gave: a sum where the loss sums."""
    constant: Number
    """What a target would have cost under the best constant answer."""
    floor: Number = 0.0
    """What a target costs under the best answer there is: soft targets cost their own entropy."""
    rows: int
    """Rows that the constant is made of."""
    commonest: float | None = None
    """Share of the commonest class, or of ones."""
    spread: Number | None = None
    """Deviation of the answers between rows, as a share of that of the targets."""
    reach: Number | None = None
    """Size of the answers as a share of that of the targets, of numbers: a root of the mean square each."""
    of_batch: bool = False
    """The target is a tensor of a fetched batch."""
    drawn: tuple[Frame, Frame] | None = None
    """The lines that put the inputs and the targets in a random order each, by two draws."""

    def key(self) -> object:
        """Identify the loss and the line that calls it."""
        return self.loss, self.frame
