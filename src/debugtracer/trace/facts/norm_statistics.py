"""The running statistics of batch norms under DistributedDataParallel, so that ranks can be compared."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from debugtracer.trace.facts.fact import Fact


class LayerStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """One batch norm after the forward of a step, at most 64 channels."""

    name: str
    kind: str
    momentum: float
    """Share of the last batch in the running mean."""
    mean: tuple[float, ...]
    var: tuple[float, ...]


class NormStatistics(Fact, frozen=True, kw_only=True):
    """At the gate of an inspected step; only batch norms in training that keep running statistics of this rank's data
    alone."""

    ABOUT = "several ranks"
    KEEP: ClassVar[int] = 64

    group: tuple[int, ...]
    """Ranks that hold a copy."""
    broadcast: bool
    """Rank 0's buffers replace the others' before each forward, which is what DistributedDataParallel does by
    default."""
    layers: tuple[LayerStatistics, ...]

    def key(self) -> object:
        """Identify the step: each one is new."""
        return self.ref.step
