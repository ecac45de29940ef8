"""A parameter that drifts one way and takes the loss along."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class DriftingParameter(Fact, frozen=True, kw_only=True):
    """Seen once for a parameter: over several looks its gradient stayed what it was."""

    name: str
    """Its path; empty for one that no model holds."""
    numbers: int
    """How many of its numbers drift."""
    first: Number
    last: Number
    """Of the one that went furthest, at the first look and now."""
    gradient: Number
    """Of that one, now."""
    kept: Number
    """Its least by its largest size in the second half of the looks."""
    loss: Number
    """Of the last look."""
    fall: Number
    """What the loss fell by in the second half of the looks."""
    explained: Number
    """What the drift alone accounts for of it: gradient times way, added up."""
    looks: int
    frame: Frame | None
    """Where the parameter is used first."""

    def key(self) -> object:
        """Identify the parameter by its path."""
        return self.name
