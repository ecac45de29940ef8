"""Which line filled each trainable parameter before the first update."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter."""

    param: str
    function: str
    """normal_, kaiming_uniform_, fill_ ..."""
    frame: Frame | None = None
    """The user's line: of the call, or of the layer whose constructor calls it."""


class WeightsFilled(Fact, frozen=True, kw_only=True):
    """All parameters whose filling was seen; emitted once, at the first update."""

    KEEP = 1

    rows: tuple[Filled, ...]
