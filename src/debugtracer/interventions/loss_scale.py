"""A smaller loss scale: the backward of mixed precision with more room above."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class LossScale(Intervention):
    """Scaled gradients halved k times. Heals what only overflows when scaled; unscaling in the step uses the same
    smaller scale."""

    scope: ClassVar[Scope] = "precision"
    default: ClassVar[float | None] = 4.0
    unit: ClassVar[str] = "how often the loss scale is halved"
    ladder: ClassVar[tuple[float, ...]] = (12.0,)

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without a GradScaler that has a scale."""
        if rerun.scaler is None:
            return "the step uses no GradScaler"
        return "" if getattr(rerun.scaler, "_scale", None) is not None else "the GradScaler has not scaled anything yet"

    def apply(self, rerun: Rerun) -> str:
        """Lower the loss scale for the time of the run."""
        factor = 2.0**-self.size
        rerun.throughout.append(scaled(rerun.scaler, factor))
        if not any(entry.kind == "unscale" for entry in rerun.entries):  # the step stopped before it
            rerun.on_gradients.append(lambda gradients: torch._foreach_div_(gradients, factor))
        before = float(rerun.scaler._scale)
        return f"the loss scale {before:g} halved {self.size:g} times: {before * factor:g}"


@contextlib.contextmanager
def scaled(scaler: Any, factor: float) -> Iterator[None]:
    """The scale multiplied for a while; its bytes come back."""
    kept = scaler._scale.clone()
    scaler._scale.mul_(factor)
    try:
        yield
    finally:
        scaler._scale.copy_(kept)
