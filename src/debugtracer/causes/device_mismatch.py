"""Tensors on different devices meet."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DeviceMismatch(Cause):
    """A part of the model or of the batch was not moved: torch raises where they meet."""

    kind: ClassVar[str] = "device_mismatch"
    layer: ClassVar[Layer] = "device"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("model/unregistered-params",)
    remedies: ClassVar[tuple[str, ...]] = (
        "move model and batch: model.to(device), x.to(device)",
        "make new tensors where the others are: torch.zeros(n, device=x.device)",
    )
