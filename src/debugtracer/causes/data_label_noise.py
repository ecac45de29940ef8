"""The labels of a batch do not belong to its inputs."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DataLabelNoise(Cause):
    """Inputs like all others whose labels are as good as random: a second file, a shifted column, a join on the wrong
    key."""

    kind: ClassVar[str] = "data_label_noise"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = (
        "stable-op",
        "full-precision",
        "lower-lr",
        "fresh-moments",
        "older-weights",
    )
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-spike",)
    contradicts: ClassVar[tuple[str, ...]] = ("data/scale-drift",)
    remedies: ClassVar[tuple[str, ...]] = (
        "look at inputs beside labels: `debug-tracer report RUN --batch`",
        "check where the file with these samples was joined with its labels",
    )
