"""A copy from one device to another that does not hold what was copied."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class DamagedCopy(Fact, frozen=True, kw_only=True):
    """Seen in an inspected step, right after the copy."""

    KEEP = 16

    function: str
    """to, cuda, copy_ ..."""
    source: str
    target: str
    """Devices."""
    elements: int
    different: int
    """Elements that differ bit by bit."""
    zeros: int
    """Those of them that are 0 in the copy."""
    frame: Frame | None = None

    def key(self) -> object:
        """Tell a line and a pair of devices once."""
        return self.frame, self.source, self.target
