"""A number that is the logarithm of a variance in one place and of a standard deviation in another."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class LatentSpread(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step: noise is multiplied with exp(L), or L, and the loss adds up L and exp(L)."""

    KEEP = 16

    raw: bool
    """The noise is multiplied with L itself."""
    shape: tuple[int, ...]
    frame: Frame | None = None
    """The line of the exponential, or of the product where there is none."""
    product: Frame | None = None
    """The line that multiplies the noise."""

    drawn: str = ""
    """The function that drew the noise, where that is uniform: `frame` is its line then."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
