"""Whether each step is given one and the same data, whatever the order of its rows."""

from __future__ import annotations

from debugtracer.trace.facts.fact import Fact


class SameValues(Fact, frozen=True, kw_only=True):
    """All steps looked at were given the same values: the whole of the data is one batch."""

    KEEP = 4

    looks: int
    """Steps looked at."""
    same: bool = True
    """False once a later step was given others."""

    def key(self) -> object:
        """Identify what is said: once each."""
        return self.same
