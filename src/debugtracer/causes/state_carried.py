"""The state of a recurrent layer is that of other samples."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.model import state_carried as check
from debugtracer.trace.finding import Layer


class StateCarried(Cause):
    """Each batch begins with what the batch before has left, though its rows are samples of their own."""

    kind: ClassVar[str] = "state_carried"
    layer: ClassVar[Layer] = "model"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = check.StateCarried.remedies
