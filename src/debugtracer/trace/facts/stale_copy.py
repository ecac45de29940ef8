"""A copy of a trained model that makes targets without a graph and is never written again."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class UsedUp(msgspec.Struct, frozen=True, kw_only=True):
    """An iterator that can be gone through once, and is gone through twice."""

    name: str
    used_up: Frame
    """The loop that uses it up."""
    empty: Frame
    """The loop that would write, and goes through nothing."""


class StaleCopy(Fact, frozen=True, kw_only=True):
    """Seen once for a copy: at the third look where the condition of its update cannot hold, else after many
    updates."""

    module: str
    """The class of the copy."""
    updates: int
    """Updates of the trained model since the copy was first seen."""
    apart: Number
    """How far the trained model has gone from it, as a share of its norm."""
    frame: Frame
    """The line that would write it, or the condition over that which never holds."""
    called: Frame | None
    """The line that calls it."""
    never: str = ""
    """That condition and its counter in words; empty where nothing can be shown."""
    spent: UsedUp | None = None
    """The iterator made on that line over which the loop that would write finds nothing; None for other reasons."""

    def key(self) -> object:
        """Identify the line that would write."""
        return self.frame
