"""Two names of one parameter that have become two parameters."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class TieGone(Fact, frozen=True, kw_only=True):
    """Parameters that shared their storage under two names, share it no more, and are both trained."""

    KEEP = 16

    name: str
    other: str
    numel: int
    how: str
    """The call after which they were two: `load_state_dict`, `_apply` (.to, .half, .double); empty when no call was
    seen (an assignment)."""
    frame: Frame | None = None
    """The user's line of that call."""
    equal: bool = False
    """They still had the same values right after it: nobody wanted two."""
    count: int = 1
    """Ties of that model that broke in the same way."""

    def key(self) -> object:
        """Identify the pair of names that the fact is about."""
        return (self.name, self.other)
