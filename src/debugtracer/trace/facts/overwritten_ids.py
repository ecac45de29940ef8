"""Ids that a label which losses leave out was written over."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OverwrittenIds(Fact, frozen=True, kw_only=True):
    """Emitted once, when an embedding refuses ids among which is the label that losses leave out."""

    KEEP: ClassVar[int] = 1

    label: int
    ids: int
    """Ids of the call, and how many of them are that label."""
    overwritten: int
    frame: Frame | None = None
    """The only line of the program that writes it into a part of something; None for none, and for several."""
