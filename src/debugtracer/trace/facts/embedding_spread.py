"""How far the outputs of a model that is called several times in a step lie apart, over the rows of all calls."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class EmbeddingSpread(Fact, frozen=True, kw_only=True):
    """Seen in an inspected step; only calls that the loss was made of."""

    KEEP = 32

    root: str
    frame: Frame | None
    """The line of its first call."""
    calls: int
    rows: int
    apart: Number
    """Standard deviation over the rows, root mean square over the columns."""
    size: Number
    """Root mean square of the outputs."""

    def key(self) -> object:
        """Identify the model and its call."""
        return self.root, self.frame
