"""A loss whose target is the very tensor that the model was given: data of a batch with noise added in this step."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class NoisyTarget(Fact, frozen=True, kw_only=True):
    """The only loss of an inspected step."""

    KEEP = 16

    loss: str
    number: int = 0
    """Such steps seen before it."""
    noise: float
    """Correlation of the target with the noise."""
    frame: Frame | None = None
    """The line of the loss."""
    drawn: Frame | None = None
    """The line that draws the noise."""

    def key(self) -> object:
        """Identify the line of the loss."""
        return self.frame
