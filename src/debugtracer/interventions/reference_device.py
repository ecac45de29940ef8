"""The same step on the CPU in float64: says whether the device or the precision made the fault."""

from __future__ import annotations

from typing import ClassVar

import torch

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.recast import default_dtype, moved_casts, recast
from debugtracer.interventions.rerun import Rerun

CPU = torch.device("cpu")


class ReferenceDevice(Intervention):
    """Parameters, buffers, moments and inputs in float64 on the CPU, autocast off. Dropout draws other masks there than
    in float32."""

    scope: ClassVar[Scope] = "precision"
    cost: ClassVar[float] = 3.0

    def refuses(self, rerun: Rerun) -> str:
        """The CPU and float64 must be something else than what the step had."""
        held = [*(p for root in rerun.roots for p in root.parameters()), *(leaf.tensor for leaf in rerun.leaves())]
        different = any(t.device != CPU or (t.is_floating_point() and t.dtype != torch.float64) for t in held)
        return "" if different else "the step was computed on the CPU in float64"

    def apply(self, rerun: Rerun) -> str:
        """Recast everything; casts and placements inside the step follow."""
        rerun.autocast = False
        rerun.throughout += [
            default_dtype(torch.float64),
            moved_casts(rerun.roots, torch.float64, CPU),
            recast(rerun.roots, rerun.optimizers, torch.float64, CPU),
        ]
        rerun.cast = lambda tensor: tensor.to(CPU, torch.float64 if tensor.is_floating_point() else tensor.dtype)
        return "the whole step on the CPU in float64"

    def offline(self, tape: OfflineRerun) -> str:
        """The recorded operators there; only an operator without such a kernel stays in its dtype."""
        if tape.floats() == {"float64"} and all(row.device == "cpu" for row in tape.program.storages):
            raise ReplayRefused("the step was computed on the CPU in float64")
        tape.dtype, tape.device = "float64", "cpu"
        return "the whole step on the CPU in float64"
