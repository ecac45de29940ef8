"""An optimizer that updates half-precision weights, and the line that made them so."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class HalfWeights(Fact, frozen=True, kw_only=True):
    """Told once for each optimizer, at its first step."""

    optimizer: str
    """Its class."""
    cast: Frame
    """The line that casts the weights, or loads them in half precision."""

    def key(self) -> object:
        """Identify the kind of optimizer."""
        return self.optimizer
