"""The step in full precision: autocast off, half-precision parameters and inputs upcast."""

from __future__ import annotations

from typing import ClassVar

import torch

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.recast import autocast_off, recast
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.tape.entry import HALF


class FullPrecision(Intervention):
    """Everything in float32. If that heals, the range or the precision of the working dtype was the fault, not the
    arithmetic."""

    scope: ClassVar[Scope] = "precision"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse if nothing of the step is in half precision."""
        if any(entry.autocast for entry in rerun.entries):
            return ""
        held = [*(p for root in rerun.roots for p in root.parameters()), *(leaf.tensor for leaf in rerun.leaves())]
        if any(t.dtype in HALF for t in held):
            return ""
        birth = rerun.birth
        half = (
            birth is not None
            and birth.output is not None
            and birth.output.dtype.removeprefix("torch.") in ("float16", "bfloat16")
        )
        return "" if half else "nothing of the step is in half precision"

    def apply(self, rerun: Rerun) -> str:
        """Recast what is half, switch autocast off everywhere."""
        rerun.autocast = False
        rerun.throughout.append(autocast_off(rerun.roots))
        rerun.cast = lambda tensor: tensor.float() if tensor.dtype in HALF else tensor
        rerun.throughout.append(recast(rerun.roots, rerun.optimizers, torch.float32, None, only=HALF))
        return "the whole step in float32, autocast off"

    def offline(self, tape: OfflineRerun) -> str:
        """The recorded operators with every floating tensor in float32; in float64 where the step holds that."""
        held = tape.floats()
        if not held & {"float16", "bfloat16"}:
            raise ReplayRefused("nothing of the step is in half precision")
        tape.dtype = "float64" if "float64" in held else "float32"
        return f"the whole step in {tape.dtype}"
