"""Autograd graphs of past steps that something still holds."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class HeldGraphs(Fact, frozen=True, kw_only=True):
    """Emitted when the graphs of 16, 64, 256 past steps are alive."""

    KEEP = 8

    what: str
    """`loss` or `output`: whose graph it is."""
    steps: int
    """Steps whose graph is alive; the two in flight do not count."""
    of: int
    """Steps since the oldest of them."""
    since: int
    """Iteration of the oldest."""
    name: str = ""
    """The variable or attribute that holds most of them; "" when none was found on the stack."""
    frame: Frame | None = None
    """Where it grows."""

    def key(self) -> object:
        """Identify what holds the graphs: losses and outputs apart."""
        return self.what
