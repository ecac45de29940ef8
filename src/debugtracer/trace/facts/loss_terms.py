"""The numbers that a loss is the sum of."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One of them."""

    value: Number
    """With the sign it has in the sum."""
    frame: Frame | None
    """The line that made it."""
    reduction: str = ""
    """`sum` or `mean` where it is one over the elements of a tensor, times a number perhaps."""
    elements: int = 0
    weight: Number | None = None
    """Of each element in it."""
    spread: Number | None = None
    """The variance over rows of the answers that a loss compares, where it compares numbers."""
    target_spread: Number | None = None
    """That of what they are compared with."""


class LossTerms(Fact, frozen=True, kw_only=True):
    """The last sum of two numbers with a graph before a backward of an inspected step."""

    KEEP = 64

    terms: tuple[Term, ...]
    frame: Frame | None
    """The line that adds them up."""

    def key(self) -> object:
        """Identify the line and the look: the check compares them."""
        return self.frame, self.ref.step
