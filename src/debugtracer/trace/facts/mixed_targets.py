"""With which factors a batch and its permuted rows were added up, and with which their targets."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class MixedTargets(Fact, frozen=True, kw_only=True):
    """One mixture of an inspected step: both sums were made with one permutation."""

    frame: Frame | None
    """The line that adds up the targets, or the two losses."""
    mixed: Frame | None
    """The line that adds up the rows."""
    own: float
    other: float
    """The factors of the rows and of the permuted ones."""
    target_own: float
    target_other: float
    """Those of their targets."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
