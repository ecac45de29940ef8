"""Each step takes the first batch of a new pass."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.restarted_pass import RestartedPass
from debugtracer.trace.finding import Layer


class DataRestartedPass(Cause):
    """next(iter(loader)) inside the loop with an order that is fixed: the model learns one batch by heart."""

    kind: ClassVar[str] = "data_restarted_pass"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("other-batch", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-too-good", "data/duplicate-batch")
    remedies: ClassVar[tuple[str, ...]] = RestartedPass.remedies
