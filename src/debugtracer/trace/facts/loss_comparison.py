"""The weights of now and of before on the same recorded batches: has training become worse, or its data other?"""

from __future__ import annotations

from debugtracer.trace.facts.fact import Fact


class LossComparison(Fact, frozen=True, kw_only=True):
    """One trial about a loss that has left its level; `ref` is the step at which it did."""

    earlier_step: int = -1
    """Step of the weights of before, whose loss was low; -1: none were kept."""
    batches: int = 0
    """Recorded batches of late that both weights were given."""
    now: float = 0.0
    """Mean loss on them with the weights of now."""
    earlier: float = 0.0
    """Mean loss on them with the weights of before."""
    refused: str = ""
    """Why it could not be tried; empty: it was."""

    def key(self) -> object:
        """Identify the step at which the loss left its level."""
        return self.ref.step
