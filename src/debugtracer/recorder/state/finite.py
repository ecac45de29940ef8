"""Whether weights, moments and kept values are finite, exactly: asked after a bad step alone, for it syncs the host."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.recorder.norms import is_bad


def all_finite(values: Iterable[object]) -> bool:
    """True if no tensor among these holds NaN or infinity."""
    with torch.no_grad():
        return not any(isinstance(value, Tensor) and is_bad(value) for value in values)


def moments(optimizer: Optimizer) -> list[object]:
    """Everything that an optimizer keeps for its parameters."""
    return [value for kept in optimizer.state.values() for value in kept.values()]
