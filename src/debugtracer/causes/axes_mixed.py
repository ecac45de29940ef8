"""A view reads values along another dimension than was meant."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.model.axes_mixed import AxesMixed as Said
from debugtracer.trace.finding import Layer


class AxesMixed(Cause):
    """view and reshape keep the order of memory: they do not move a dimension, so rows come out scrambled."""

    kind: ClassVar[str] = "axes_mixed"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = Said.remedies
