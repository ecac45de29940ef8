"""Weights that were kept as a copy are the trained ones themselves."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.optimizer.copy_aliased import CopyAliased as Check
from debugtracer.trace.finding import Layer


class CopyAliased(Cause):
    """What was to be gone back to, or compared with, moves along with every update."""

    kind: ClassVar[str] = "copy_aliased"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    remedies: ClassVar[tuple[str, ...]] = Check.remedies
