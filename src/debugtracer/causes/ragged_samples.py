"""The loader cannot put the samples of a batch together."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.ragged_samples import RaggedSamples as RaggedSamplesCheck
from debugtracer.trace.finding import Layer


class RaggedSamples(Cause):
    """Images of other sizes, sequences without padding, a sample that is None: torch.stack raises inside the worker."""

    kind: ClassVar[str] = "ragged_samples"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("data/shape-drift",)
    remedies: ClassVar[tuple[str, ...]] = RaggedSamplesCheck.remedies
