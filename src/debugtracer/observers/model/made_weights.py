"""Weights that a hook of torch makes before each call (weight norm, spectral norm, pruning): plain attributes with a
graph, which deepcopy refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn

MAKERS = "torch.nn.utils."  # where the classes of these hooks are


def makes_weight(hook: Any) -> bool:
    """Whether a hook is one of torch's that only writes the module's weight."""
    return type(hook).__module__.startswith(MAKERS)


def made_weights(model: nn.Module) -> Iterator[Tensor]:
    """Yield the tensors that such hooks have left on the modules; the next call makes them anew."""
    for module in model.modules():
        if any(map(makes_weight, module._forward_pre_hooks.values())):
            yield from (value for value in vars(module).values() if isinstance(value, Tensor) and not value.is_leaf)


def without_graph(model: nn.Module) -> dict[int, Any]:
    """What stands for these tensors in a copy of the model: the memo of deepcopy, with their numbers alone."""
    return {id(value): value.detach().clone() for value in made_weights(model)}
