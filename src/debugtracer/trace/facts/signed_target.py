"""What a loss whose targets say 1 or -1 was given as targets."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number

SIGNED = frozenset({"cosine_embedding_loss", "margin_ranking_loss", "soft_margin_loss", "hinge_embedding_loss"})
"""Losses of torch.nn.functional whose targets are 1 or -1."""


class SignedTarget(Fact, frozen=True, kw_only=True):
    """One call of such a loss in an inspected step."""

    KEEP = 32

    loss: str
    number: int
    """How many calls were emitted before it in the run."""
    total: int
    """Targets."""
    other: int
    """Targets that are neither 1 nor -1 and pull nowhere; 0 alone for losses that take any number."""
    negative: int
    """Targets below 0."""
    low: Number
    """The least target."""
    high: Number
    """The greatest."""
    frame: Frame | None
    """The line that calls the loss."""
    module: str | None = None
    """Path of the module that called it, if one did."""

    def key(self) -> object:
        """Identify the call: the check counts them."""
        return self.loss, self.frame, self.number
