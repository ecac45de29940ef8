"""How close a check came to its limit: the number it measured, and the one from which it would have spoken."""

from __future__ import annotations

import msgspec


class Nearness(msgspec.Struct, frozen=True, kw_only=True):
    """The closest that a check came. Both numbers are finite; `limit` is not 0."""

    what: str
    """What was measured, with its unit (`share of a step that waits`)."""
    value: float
    limit: float
    step: int
    below: bool = False
    """The check speaks below its limit; else above it."""

    @property
    def share(self) -> float:
        """How much of the way to the limit was gone: 1 at the limit, more beyond it."""
        return share_of(self.value, self.limit, self.below)


def share_of(value: float, limit: float, below: bool) -> float:
    """How much of the way to a limit > 0 a number is."""
    if not below:
        return value / limit
    return limit / value if value > 0 else 1.0
