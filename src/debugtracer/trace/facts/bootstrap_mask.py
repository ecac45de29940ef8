"""How often what a network says of the next state counts in a target."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class BootstrapMask(Fact, frozen=True, kw_only=True):
    """One target of an inspected step: numbers of the rows plus a prediction times a mask."""

    KEEP = 64

    rows: int
    kept: int
    """Rows whose mask is not 0."""
    kept_again: int = 0
    """Of those, the ones whose next state is the state of another row: an episode went on from there."""
    again: int = 0
    """The same of all rows."""
    masked: Frame | None = None
    """The line that multiplies with the mask."""
    frame: Frame | None = None
    """The line that compares the target with a prediction."""

    def key(self) -> object:
        """Identify the line and the look: the check adds them up."""
        return self.masked, self.ref.step
