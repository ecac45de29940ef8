"""The numbers of a step read from a device at once, with one host sync for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import torch
from torch import Tensor


def read_at_once(
    norm: Tensor, losses: Sequence[Tensor], param_l2: Tensor | None
) -> tuple[tuple[float, list[float], float], float]:
    """Return the norm (0-dim), the mean of each loss and the norm of the weights (0 where none is given), and the
    seconds that the host waited for them. Syncs."""
    parts = [norm.double(), *(t.double().mean() for t in losses), *([] if param_l2 is None else [param_l2.double()])]
    vector = torch.stack([p.to(norm.device) for p in parts])
    begin = perf_counter()
    values = [float(v) for v in vector.tolist()]
    waited_s = perf_counter() - begin
    return (values[0], values[1 : 1 + len(losses)], 0.0 if param_l2 is None else values[-1]), waited_s
