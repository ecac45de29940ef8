"""A position from which texts are written on, and which training never asks for a word."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UntrainedStart(Fact, frozen=True, kw_only=True):
    """Seen when an evaluation wrote the second word of a text."""

    KEEP = 16

    root: str
    first: int
    """The first position, from 0, that has a target, in every text of training."""
    steps: int
    """Inspected steps in which that was so."""
    given: int
    """Words of the texts that the evaluation began with; it asks position `given - 1` first."""
    loss: str
    loss_frame: Frame | None = None
    frame: Frame | None = None
    """The line of the evaluation that calls the model."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote the targets, the one that made them first."""

    def key(self) -> object:
        """Identify the model and the two places."""
        return self.root, self.first, self.given
