"""How far the answers that a loss compares differ from row to row, beside the targets."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.trace.facts.loss_call import BINARY, ELEMENTWISE

ROWS = (8, 64)  # at least, and looked at (ours)
DIFFERENCES = frozenset({"sub", "__sub__", "rsub", "__rsub__", "subtract"})
LOGITS = "binary_cross_entropy_with_logits"


def row_spread(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
    """The variance over rows of the answers and of the targets, in one tensor; None for what compares no numbers with
    given ones of the same shape. A difference of a tensor with a graph and one without is such a comparison, too."""
    if name in DIFFERENCES and len(args) == 2:
        answer, target = args if getattr(args[0], "requires_grad", False) else args[::-1]
    elif name in ELEMENTWISE or name in BINARY:
        bound = arguments(name, args, kwargs)
        answer, target = bound["input"], bound["target"]
    else:
        return None
    if not (isinstance(answer, Tensor) and isinstance(target, Tensor)) or answer.shape != target.shape:
        return None
    if target.requires_grad or not answer.dim() or not (is_dense(answer) and is_dense(target)) or len(answer) < ROWS[0]:
        return None
    with torch.no_grad():
        pair = [given[: ROWS[1]].detach().float() for given in (answer, target)]
        if name == LOGITS:
            pair[0] = pair[0].sigmoid()
        return torch.stack([rows.var(0).mean() for rows in pair])
