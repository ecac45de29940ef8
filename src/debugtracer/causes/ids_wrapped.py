"""Ids lost their high bits where they were stored."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.ids_wrapped import IdsWrapped as Said
from debugtracer.trace.finding import Layer


class IdsWrapped(Cause):
    """A cast to a small integer type keeps the remainder of each id: different words or classes are one."""

    kind: ClassVar[str] = "ids_wrapped"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau", "optimizer/embedding-gradient")
    remedies: ClassVar[tuple[str, ...]] = Said.remedies
