"""Which few columns of a table add up to the target, to rounding?"""

from __future__ import annotations

import torch
from torch import Tensor

COLUMNS = (5, 64)  # of the table: in a smaller one every column is part of a toy, a larger one is too dear (ours)
ROWS = 3  # rows for each column: with fewer any target is a sum of them (ours)
MOST = 3  # columns that add up: a price of parts, a mean that reaches into the present (ours)
EXACT = 1e-5  # of the target's deviation: float32 rounds to 1e-6 after a column is scaled (ours)
USED = 1e-3  # of the target's deviation that a column contributes (ours)
RELATED = 0.5  # correlation of two of them: values drawn apart, a lesson of two numbers, have none (ours)


def adding_up(x: Tensor, y: Tensor) -> tuple[int, ...]:
    """The columns of `x` (rows, columns) of which `y` is a sum with fixed weights, both centred and in float64; empty
    where there are none, too many, or where they have nothing to do with each other."""
    rows, columns = x.shape
    deviations, size = x.norm(dim=0), y.norm()
    if not COLUMNS[0] <= columns <= COLUMNS[1] or rows < ROWS * columns or not bool(torch.isfinite(deviations).all()):
        return ()
    kept = (deviations > 0).nonzero().flatten()
    if len(kept) < COLUMNS[0] or not bool(size > 0):
        return ()
    scaled = x[:, kept] / deviations[kept]
    weights = torch.linalg.lstsq(scaled.cpu(), y.cpu()[:, None]).solution[:, 0].to(x.device)
    used = (weights.abs() > USED * size).nonzero().flatten()
    if not 2 <= len(used) <= MOST or 2 * len(used) > len(kept):
        return ()
    if not bool((scaled[:, used] @ weights[used] - y).norm() <= EXACT * size):
        return ()
    together = (scaled[:, used].T @ scaled[:, used]).abs() - torch.eye(len(used), device=x.device, dtype=x.dtype)
    return tuple(kept[used].tolist()) if bool(together.max() >= RELATED) else ()
