"""Noise is predicted that is not the noise a sampler begins with."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.noise_differs import NoiseDiffers as NoiseDiffersCheck
from debugtracer.trace.finding import Layer


class NoiseDiffers(Cause):
    """Training and sampling draw their noise from two distributions."""

    kind: ClassVar[str] = "noise_differs"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    remedies: ClassVar[tuple[str, ...]] = NoiseDiffersCheck.remedies
