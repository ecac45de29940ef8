"""A spectral norm that divides by the size of a weight which it has not measured yet."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class SpectralStart(Fact, frozen=True, kw_only=True):
    """A model called in evaluation mode before its first backward, told once."""

    ABOUT = "a spectral norm"

    root: str
    frame: Frame | None
    """The line that calls the model."""
    parts: tuple[str, ...]
    """Paths of its spectrally normalised weights whose estimate is off, worst first."""
    of: int
    """Spectrally normalised weights of the model."""
    estimate: float
    """What the worst of them is divided by."""
    norm: float
    """Its largest singular value."""

    def key(self) -> object:
        """Identify the model by its class."""
        return self.root
