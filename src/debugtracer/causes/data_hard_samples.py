"""A run of hard or unusual samples makes the loss jump."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DataHardSamples(Cause):
    """The loss of a few batches is high because their samples are unlike all before; the weights and the update are
    sound."""

    kind: ClassVar[str] = "data_hard_samples"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch", "reordered-batches")
    refuted_by: ClassVar[tuple[str, ...]] = (
        "stable-op",
        "full-precision",
        "lower-lr",
        "fresh-moments",
        "older-weights",
    )
    supports: ClassVar[tuple[str, ...]] = (
        "data/scale-drift",
        "data/range-extreme",
        "data/class-skew",
        "data/repeated-ngram",
    )
    contradicts: ClassVar[tuple[str, ...]] = ("optimizer/lr-jump", "optimizer/second-moment-decoupled")
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the samples: `debug-tracer report RUN --batch`, then repair or drop them in the dataset",
        "shuffle, so that such samples do not come in a row: DataLoader(..., shuffle=True)",
        "if they belong there: clip the gradient, torch.nn.utils.clip_grad_norm_(params, 1.0)",
    )
