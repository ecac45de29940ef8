"""How large a score can become that is a product of rows of length 1, times a constant."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.observers.graph.zero_inputs import kept_by

PRODUCTS = frozenset({"MmBackward0", "BmmBackward0"})
SCALED = frozenset({"MulBackward0", "DivBackward0"})
MOVED = ("View", "Unsafe", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Permute", "T", "Clone", "ToCopy")
DEEP = 8  # nodes between the scores and the product (ours)
UNIT = 1e-2  # relative difference of a length from 1 (ours: half precision)


def score_limit(scores: Tensor) -> float | None:
    """The largest size that a score can have; None where the rows have no length of 1, or the factor is learned. One
    host sync for a product of two kept matrices."""
    node = product_of(scores)
    if node is None:
        return None
    left, right = kept_by(node, "self"), kept_by(node, "mat2")
    if left is None or right is None or left.dtype != right.dtype:
        return None
    with torch.no_grad():
        lengths = [*left.float().norm(dim=-1).aminmax(), *right.float().norm(dim=-2).aminmax()]
        sizes = [scores.detach().float().abs().amax(), (left @ right).float().abs().amax()]
        *ends, largest, cosine = torch.stack([*lengths, *sizes]).tolist()
    if any(abs(end - 1) > UNIT for end in ends) or not cosine > 0:
        return None
    return float(largest / cosine)


def product_of(scores: Tensor) -> Any:
    """The node of the product of two matrices that scores are, moved and times constants at most."""
    node = scores.grad_fn
    for _ in range(DEEP):
        if node is None or node.name() in PRODUCTS:
            return node
        ways = [before for before, _ in node.next_functions if before is not None]
        scaled = node.name() in SCALED and is_number(node)
        if len(ways) != 1 or not (scaled or node.name().startswith(MOVED)):
            return None
        node = ways[0]
    return None


def is_number(node: Any) -> bool:
    """Whether the other factor, or the divisor, is one number."""
    try:
        other = node._saved_other
    except RuntimeError:
        return False
    return isinstance(other, Tensor) and other.numel() == 1
