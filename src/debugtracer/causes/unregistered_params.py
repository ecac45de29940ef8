"""Layers are not registered in the module tree."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class UnregisteredParams(Cause):
    """A plain list or dict hides its modules: parameters(), state_dict(), .to() and train() do not see them."""

    kind: ClassVar[str] = "unregistered_params"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/missing-params", "device/device-mismatch")
    remedies: ClassVar[tuple[str, ...]] = (
        "hold layers in nn.ModuleList or nn.ModuleDict, tensors in nn.ParameterList or register_buffer",
        "build the optimizer after that",
    )
