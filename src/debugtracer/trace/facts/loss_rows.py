"""The loss of each row of a batch, read from the graph when the loss of a step stands out."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class RowLoss(msgspec.Struct, frozen=True, kw_only=True):
    """One row."""

    row: int
    sample: int | None
    loss: Number


class LossRows(Fact, frozen=True, kw_only=True):
    """One step whose loss is above all of the last 32 by a quarter."""

    loss: str
    """Name of the loss node: NllLossBackward0, MseLossBackward0 ..."""
    value: Number
    usual: Number
    """Median of the losses of the last 32 steps."""
    first: Number = 0.0
    """Median of the first losses of the run; 0 where it is not known."""
    rows: int
    median: Number
    mad: Number
    """Over the rows of this batch."""
    raised: float
    """Share of the rows whose loss is a quarter above `usual`."""
    top_share: float
    """Of the summed loss that the largest row has."""
    top: tuple[RowLoss, ...] = ()
    """At most 10, largest first."""
    samples: tuple[int, ...] | None = None

    def key(self) -> object:
        """Identify the fact itself: each one is new."""
        return self.ref.iteration
