"""An attention that looks at padding alone."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class AttendedPadding(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step, at one mask."""

    KEEP = 16

    function: str
    """multi_head_attention_forward, scaled_dot_product_attention, masked_fill."""
    kept: Number
    """Share of the positions that the mask lets in."""
    value: int | None
    """The id that stands at all of them; None for inputs that are vectors, where it is one and the same vector."""
    shut: int
    """Ids, or vectors, that stand at the positions which the mask shuts out; counted to 64."""
    module: str | None = None
    frame: Frame | None = None

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
