"""What weight decay adds to the gradient, beside the gradient."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class DecayShare(Fact, frozen=True, kw_only=True):
    """One optimizer in one of the first updates; of its parameters that decay."""

    ABOUT = "weight decay"

    optimizer: int
    kind: str
    frame: Frame | None
    """Where the user built it."""
    number: int
    """Updates that were looked at before it."""
    decay: Number
    """The largest weight_decay of its groups."""
    lr: Number
    """The largest rate of these groups."""
    decoupled: bool
    """The decay is taken off the weights directly and does not go through the moments."""
    adaptive: bool
    """The update is divided by the size of the gradient."""
    decay_l2: Number
    """Norm of weight_decay * weight."""
    grad_l2: Number
    decay_frame: Frame | None = None
    """Of the last look, where the decay is large: the line that says it, where that is not the constructor."""

    def key(self) -> object:
        """Identify the optimizer and the look."""
        return self.optimizer, self.number
