"""The size of the logits that reach a cross-entropy, on inspected steps: how far their normaliser is from 0 and how
sure they are."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class LogitScale(Fact, frozen=True, kw_only=True):
    """An even sample of the rows of one call; rows whose target is ignored are left out."""

    frame: Frame | None = None
    classes: int
    rows: int
    log_z: Number
    """Mean |log Z|: the logarithm of the sum of the exponentials of a row."""
    gap: Number
    """Mean distance between the largest logit of a row and the second."""
    loss: Number
    """Mean cross-entropy of these rows without weights and smoothing, nats."""
    pairs: bool = False
    """The targets are places and no classes: each row has its own among about as many scores, or all have the same."""

    angle: Number | None = None
    """The angle beyond a full turn that a sine or cosine on the way to the scores is given, where they are right by far
    from the first step on."""
    angle_frame: Frame | None = None
    """The line of that number."""
    taken_by: str = ""
    """The function that takes it."""

    def key(self) -> object:
        """Identify the line that calls the loss."""
        return self.frame
