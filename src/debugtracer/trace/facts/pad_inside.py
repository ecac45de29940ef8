"""The id of the padding stands inside texts, between other ids."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PadInside(Fact, frozen=True, kw_only=True):
    """One look at the ids that a model in training was given."""

    ABOUT = "texts for an embedding with a padding index"

    root: str
    """The class of the model."""
    module: str
    """The embedding."""
    pad: int
    rows: int
    inside: int
    """Rows in which it stands alone between two other ids."""
    ends: int
    """Rows that it fills at an end."""
    columns: int
    """Columns in which it stands alone."""
    frame: Frame | None
    """Where the embedding was made, or the vocabulary."""
    masked: bool = False
    """A mask of the program's leaves it out; no embedding knows it as padding, and `root` and `module` are empty."""
    spelt: str = ""
    """The word that the vocabulary gives this id."""
    mask_frame: Frame | None = None

    def key(self) -> object:
        """Identify the model and its embedding."""
        return (self.frame,) if self.masked else (self.root, self.module)
