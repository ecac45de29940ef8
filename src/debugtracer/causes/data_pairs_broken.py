"""Two loaders that belong together have drifted apart."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.pairs_broken import PairsBroken
from debugtracer.trace.finding import Layer


class DataPairsBroken(Cause):
    """Inputs from one shuffled loader, targets from another: after the first pass nothing fits together."""

    kind: ClassVar[str] = "data_pairs_broken"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = PairsBroken.remedies
