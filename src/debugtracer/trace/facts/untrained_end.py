"""Texts whose last token of their own is never a target: it has the id of the padding, which the loss ignores."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UntrainedEnd(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    token: int
    """The id that ends each text, fills the rest of its row, and is no target."""
    rows: int
    """Texts of the batch that end so."""
    attended: bool
    """A mask of the model says that the first one belongs to the text; else it is known by the longest text of the
    batch, which ends so, too."""
    sampled: bool = False
    """The samples of the dataset end so, once each, before they are filled up to one length."""
    width: int
    """Tokens of the longest text."""
    loss: str
    frame: Frame | None
    left_out: Frame | None = None
    """The line that sets it to the ignored one: of the criterion or loss with its id, else the last that wrote the
    targets."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote the targets, the one that made them first."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
