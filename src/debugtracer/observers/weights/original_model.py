"""The trained model that another model is a copy of, and how far the two are apart."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from debugtracer.observers.weights.weight_samples import is_readable, sample

FEWEST = 2  # parameters (ours)


def original_of(module: nn.Module, trained: set[int], models: Iterable[nn.Module]) -> nn.Module | None:
    """The model of the same parameters of which all are among `trained` (ids); None where the module is trained
    itself."""
    own = dict(module.named_parameters())
    if len(own) < FEWEST or any(id(p) in trained or p.grad is not None for p in own.values()):
        return None
    shapes = {name: p.shape for name, p in own.items()}
    for other in models:
        theirs = dict(other.named_parameters())
        if {name: p.shape for name, p in theirs.items()} == shapes and all(id(p) in trained for p in theirs.values()):
            return other
    return None


def distance(module: nn.Module, original: nn.Module) -> float | None:
    """How far the samples of two models are apart, as a share of the norm; None where one cannot be read."""
    mine, theirs = list(module.parameters()), list(original.parameters())
    if not all(map(is_readable, (*mine, *theirs))):
        return None
    with torch.no_grad():
        one, other = joined(mine), joined(theirs)
        return float((one - other).norm() / other.norm().clamp_min(1e-30))


def joined(weights: list[nn.Parameter]) -> Tensor:
    """Join samples of some weights in one row."""
    return torch.cat([sample(w).double().cpu() for w in weights[:32]])
