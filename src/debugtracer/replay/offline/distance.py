"""How far a value of the replay is from the recorded one."""

from __future__ import annotations

import torch


def relative_difference(here: torch.Tensor, there: torch.Tensor | None) -> float:
    """The largest |a - b| / max |b| over the sampled values; two NaN or two equal infinities are no difference."""
    if there is None or here.shape != there.shape:
        return float("inf")
    a, b = (t.to(torch.complex128 if t.is_complex() else torch.float64) for t in (here, there))
    differ = ~((a == b) | (a.isnan() & b.isnan()))
    if not bool(differ.any()):
        return 0.0
    gap = (a - b).abs()[differ].max()
    scale = b.abs()[b.isfinite()].max() if bool(b.isfinite().any()) else torch.tensor(1.0)
    value = float(gap / scale.clamp(min=1e-300))
    return value if value == value else float("inf")
