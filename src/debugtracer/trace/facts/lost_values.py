"""A tensor of a step whose loss stands out that is all 0, and is not so as a rule."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class LostValues(Fact, frozen=True, kw_only=True):
    """Read from what the graph of the loss keeps."""

    ABOUT = "a loss that stood out"
    KEEP = 32

    module: str = ""
    """The layer that was given it; empty for a tensor of the batch that was not followed into one."""
    path: str = ""
    """Its place in the batch; empty for what the model computed."""
    samples: tuple[int, ...] = ()
    """Dataset indices that were fetched again and hold other values."""
    shape: tuple[int, ...]
    value: Number
    """The loss of the step."""
    usual: Number
    """Median of the losses of the last 32 steps."""
    looks: int
    """Other steps in which it was looked at and was not all 0."""
    frame: Frame | None
    """The line that wrote it last."""
    by_right: bool = False
    """Nothing speaks against that it is 0: a condition that is left out, a sensor that is missing."""

    def key(self) -> object:
        """Identify the fact itself: each is of one step."""
        return self.ref.step, self.module, self.path
