"""One rank has other data or another speed than the rest."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DdpRankSkew(Cause):
    """A sorted data set cut in pieces, a bad shard, a slow host: gradients pull against each other, all wait for the
    slowest."""

    kind: ClassVar[str] = "ddp_rank_skew"
    layer: ClassVar[Layer] = "device"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-rank-alone", "reordered-batches")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("data/class-skew",)
    remedies: ClassVar[tuple[str, ...]] = (
        "shuffle before the data is divided among the ranks",
        "SyncBatchNorm.convert_sync_batchnorm(model) or GroupNorm where batch norms see the data of one rank",
        "compare hosts: disk, cores, clock of the device",
    )
