"""How far the outputs of a model for the same few inputs lie apart, at the start and some updates later."""

from __future__ import annotations

from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class AnswerSpread(Fact, frozen=True, kw_only=True):
    """One look at a shadow copy in evaluation mode, with the samples of the first batch."""

    KEEP = 16

    root: str
    samples: int
    first: Number
    """Standard deviation of an output over the samples after the first backward, mean over all outputs."""
    now: Number
    scale: Number
    """Standard deviation of all outputs now."""

    def key(self) -> object:
        """Identify the root that was run."""
        return self.root
