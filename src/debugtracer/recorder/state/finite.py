"""Whether weights, moments and copies of them are finite, exactly: asked after a bad step alone, for it syncs the
host."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from debugtracer.recorder.gate.norms import is_bad


def all_finite(values: Iterable[object]) -> bool:
    """True if no tensor among these holds NaN or infinity."""
    with torch.no_grad():
        return not any(isinstance(value, Tensor) and is_bad(value) for value in values)
