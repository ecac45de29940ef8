"""Targets that end in padding, in a loss that counts it."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class PaddedTargets(Fact, frozen=True, kw_only=True):
    """Rows of targets that all end in one id, at different places; the program treats that id as padding elsewhere."""

    ABOUT = "a cross-entropy over positions"

    loss: str
    frame: Frame | None
    """The line that calls the loss."""
    module: str | None
    pad: int
    """The id."""
    share: Number
    """Of the targets, those at the end of their row."""
    rows: int
    known_by: str
    """Where the program treats it as padding: `Embedding(padding_idx=0)`, or a comparison; empty where it is known by
    `ignores_none` alone."""
    ignores_none: int | None = None
    """The id that the loss ignores, where no target is it."""
    ignores_end: int | None = None
    """The id that the loss ignores, where it ends nine rows of ten before their padding."""
    built: Frame | None = None
    """The line that built the criterion."""
    known_frame: Frame | None = None
    """The line of the comparison."""

    def key(self) -> object:
        """Identify the loss and the line that calls it."""
        return self.loss, self.frame
