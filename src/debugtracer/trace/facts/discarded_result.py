"""A result that the line which asked for it throws away."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class DiscardedResult(Fact, frozen=True, kw_only=True):
    """Seen at one call of an inspected step; once a line."""

    function: str
    """clamp, masked_fill ..."""
    twin: str
    """The function that does the same in place: clamp_ ..."""
    frame: Frame | None
    changed: Number
    """Share of the values that the result has different from what it was made of."""

    def key(self) -> object:
        """Identify the line and the function."""
        return self.function, self.frame
