"""Whether weights that no optimizer holds are a copy of weights that one trains: a target network."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from debugtracer.observers.weights.default_init import readable

NEAR = 0.5  # of the norm: two draws of one initialisation lie 1.4 norms apart, a copy moves away slowly (ours)
MOST = 4  # weights that are compared (ours)


def copies_trained(weights: Iterable[Tensor], held: Iterable[Tensor]) -> bool:
    """True if a large weight lies near one of the same shape that has a gradient and is held. Waits for the device."""
    trained = [p for p in held if p.grad is not None and readable(p)]
    with torch.no_grad(), torch._C.DisableTorchFunction():
        return any(near(w, p) for w in [w for w in weights if readable(w)][:MOST] for p in trained)


def near(weight: Tensor, other: Tensor) -> bool:
    """Compare two weights of one shape."""
    if weight.shape != other.shape or weight.device != other.device or weight is other:
        return False
    apart: float
    size: float
    apart, size = torch.stack([(weight.double() - other.double()).norm(), other.double().norm()]).tolist()
    return apart <= NEAR * size
