"""Whether a batch lies in the first dimension of its tensors, or time does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torch import Tensor, nn

TIMED = (nn.RNNBase, nn.MultiheadAttention)
"""Modules that take time first unless they are told batch_first=True."""


def time_first(tensors: Sequence[Tensor], drawn: int | None, modules: Iterable[nn.Module]) -> bool:
    """True where rows of the first dimension may be steps of time: no row and no sample is known then. `drawn` is how
    many samples the loader drew; a first dimension of that size, and no second one, settles it."""
    wide = [t for t in tensors if t.dim() > 1]
    if not wide or (drawn is not None and all(t.shape[0] == drawn != t.shape[1] for t in wide)):
        return False
    if drawn is not None and all(t.shape[1] == drawn != t.shape[0] for t in wide):
        return True
    labels = {t.shape[0] for t in tensors if t.dim() == 1}
    if any(t.shape[1] in labels and t.shape[0] not in labels for t in wide):
        return True
    return any(isinstance(part, TIMED) and not part.batch_first for module in modules for part in module.modules())
