"""Networks that begin anew beside one of their shapes that is updated and that no forward reads."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class FreshStart(Fact, frozen=True, kw_only=True):
    """Emitted once for an optimizer whose parameters no forward reads."""

    KEEP: ClassVar[int] = 4

    kind: str
    """The class of the optimizer."""
    updates: int
    """Of it, so far."""
    networks: int
    """Of the same shapes, that were made after one of these updates and have begun without its values."""
    near: Number
    """The largest cosine between one of their weights and the updated one of its place."""
    frame: Frame | None = None
    """The line that builds the optimizer."""
    original: Frame | None = None
    """The line that made its network."""
    made: Frame | None = None
    """The line that made the last of the others."""
