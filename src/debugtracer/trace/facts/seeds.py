"""The seed audit: which generators of the run were seeded, with what, from where and when."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class SeedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One generator. `risk` is "" when there is none."""

    source: str
    """`torch`, `numpy`, `python`, `cuda`."""
    seeded: bool
    value: int | None = None
    frame: Frame | None = None
    """The last call that seeded it."""
    calls: int = 0
    """Times it was seeded."""
    after_loader: bool = False
    """It was seeded for the first time when a loader had already been iterated."""
    risk: str = ""


class Seeds(Fact, frozen=True, kw_only=True):
    """Emitted at the first backward and, when something was seeded or drawn from since, at the end."""

    KEEP = 2

    rows: tuple[SeedRow, ...]
    shared: tuple[str, ...] = ()
    """Paths in a dataset that lead to one and the same generator: augmentations that disturb each other."""
