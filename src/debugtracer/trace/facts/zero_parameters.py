"""Parameters that are 0 everywhere and have had gradients of exactly 0 since the first update of their optimizer."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ZeroParameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter that was 0 in every look, and whose gradient was."""

    name: str
    shape: tuple[int, ...] = ()
    flat: str = ""
    """The function whose derivative at 0 is 0 and through which alone it is used: relu, abs, pow ..."""
    made: Frame | None = None
    """The line that fills it, or sets it."""
    used: Frame | None = None
    """The line that hands it to that function."""


class ZeroParameters(Fact, frozen=True, kw_only=True):
    """One look at an optimizer, before its updates 1, 2, 4, 8 and so on."""

    ABOUT = "an optimizer"
    KEEP = 16

    optimizer: int
    """Its number, in the order of their first steps."""
    kind: str
    built: Frame | None = None
    updates: int = 0
    """Which update was about to begin, from 1."""
    looks: int = 0
    stuck: tuple[ZeroParameter, ...] = ()
    """At most 16 of them."""
    stuck_count: int = 0
    behind: tuple[str, ...] = ()
    """The first of those that are not 0 and had gradients of exactly 0 in every look."""
    behind_count: int = 0
    live: int = 0
    """Parameters with a gradient other than 0."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer
