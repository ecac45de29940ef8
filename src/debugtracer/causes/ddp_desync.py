"""Ranks execute different numbers of collectives."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class DdpDesync(Cause):
    """One rank leaves the loop earlier, or takes a branch with a collective that others do not: the others wait for
    ever."""

    kind: ClassVar[str] = "ddp_desync"
    layer: ClassVar[Layer] = "device"
    proved_by: ClassVar[tuple[str, ...]] = ("one-rank-alone", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("data/dropped-rows",)
    remedies: ClassVar[tuple[str, ...]] = (
        "give each rank the same number of batches: DistributedSampler(drop_last=True), or join(): with model.join()",
        "no collective below `if rank == 0`",
    )
