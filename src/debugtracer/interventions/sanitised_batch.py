"""The batch with its non-finite values replaced and its outliers brought back into the range seen before."""

from __future__ import annotations

from typing import ClassVar

import torch

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun


class SanitisedBatch(Intervention):
    """NaN becomes 0, Inf and what lies beyond the range of the last healthy batch its nearest end; labels outside
    theirs the least one seen."""

    scope: ClassVar[Scope] = "sample"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without a batch among the inputs."""
        return "" if rerun.batch else "no input of the step has the rows of a batch"

    def apply(self, rerun: Rerun) -> str:
        """Replace the bad values of each floating input; integers only where a healthy batch shows their range."""
        repaired = 0
        for leaf in rerun.batch:
            before, healthy = rerun.value(leaf), rerun.healthy.get(id(leaf))
            after = cleaned(before, healthy)
            changed = int((~((after == before) | (torch.isnan(after) & torch.isnan(before)))).sum())
            if changed:
                repaired += changed
                rerun.inputs[id(leaf)] = after
        if not repaired:
            raise ReplayRefused("nothing of the batch is non-finite or outside the range of the last healthy one")
        return (
            f"{repaired} value{'s' if repaired != 1 else ''} of the batch repaired (NaN to 0, others into the range of "
            "the last healthy batch)"
        )

    def offline(self, tape: OfflineRerun) -> str:
        """The same without a healthy batch beside it: NaN becomes 0, Inf the nearest end of the range of its own
        input."""
        repaired = 0
        for _, ref in tape.batch():
            before = tape.value(ref)
            after = cleaned(before, None)
            changed = int((~((after == before) | (torch.isnan(after) & torch.isnan(before)))).sum())
            if changed:
                repaired += changed
                tape.replaced[ref] = after
        if not repaired:
            raise ReplayRefused(
                "every value of the batch is finite"
                if any(tape.batch())
                else "no input of the step has the rows of a batch"
            )
        return f"{repaired} value{'s' if repaired != 1 else ''} of the batch repaired"


def cleaned(tensor: torch.Tensor, healthy: torch.Tensor | None) -> torch.Tensor:
    """A repaired copy; the tensor itself when nothing is known to be wrong with it."""
    if not tensor.is_floating_point():
        if healthy is None or tensor.dtype == torch.bool or not healthy.numel() or healthy.dtype != tensor.dtype:
            return tensor
        low, high = healthy.min(), healthy.max()
        return torch.where((tensor < low) | (tensor > high), low, tensor)
    reference = healthy if healthy is not None and healthy.is_floating_point() else tensor
    finite = reference[torch.isfinite(reference)]
    if not finite.numel():
        return torch.nan_to_num(tensor, nan=0.0, posinf=0.0, neginf=0.0)
    least, most = float(finite.min()), float(finite.max())
    return torch.nan_to_num(tensor, nan=0.0, posinf=most, neginf=least).clamp(least, most)
