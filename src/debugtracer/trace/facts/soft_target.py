"""Soft targets and labels that one prediction was scored against."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class SoftTarget(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step: rows of a distribution over classes that was not computed in this step, and the
    labels beside them."""

    KEEP = 16

    loss: str
    """The function that scores against the distribution: kl_div, cross_entropy, mse_loss."""
    loss_frame: Frame | None = None
    hard_frame: Frame | None = None
    """The line that scores against the labels."""
    frame: Frame | None = None
    """The line that took the distributions from where they are kept."""
    classes: int
    soft: tuple[int, ...]
    """The most probable class of each row."""
    hard: tuple[int, ...]
    """The label of each row."""
    top: float
    """Mean probability of the most probable class."""
    samples: tuple[int, ...] = ()
    """Dataset index of each label; empty where it is not known."""
    made_of: tuple[int, ...] = ()
    """Dataset index of what a model was given when it made each row; empty where it is not known."""
    made: Frame | None = None
    """The line that called that model."""
    number: int = 0
    """Such looks before it."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.loss_frame, self.number
