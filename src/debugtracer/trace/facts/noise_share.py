"""With which factors data and noise were added up in one step."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class NoiseShare(Fact, frozen=True, kw_only=True):
    """One mixture s * data + n * noise of an inspected step, each row with factors of its own."""

    ABOUT = "noise that is mixed in"
    KEEP = 16

    rows: int
    squares: Number
    """The largest distance of s^2 + n^2 from 1."""
    plain_noise: Number
    """Of s^2 + n: the root of the noise's share is missing."""
    plain_data: Number
    """Of s + n^2: that of the data is missing."""
    straight: Number
    """Of s + n."""
    low: Number
    high: Number
    """Ends of n."""
    frame: Frame | None = None
    """The line that adds them up."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
