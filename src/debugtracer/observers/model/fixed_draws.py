"""Runs of a model that draws indices at random, with the same indices each time."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from debugtracer.observers.model.shadow_model import RecordedForward, ShadowModel

DRAWS = frozenset({"randint", "randperm", "randint_like"})


class RepeatedDraws(TorchFunctionMode):
    """Hands out the indices that were drawn in the first run again, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Tensor] = []
        self.at = 0

    def begin(self) -> None:
        """Begin again with the first ones."""
        self.at = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, unless it draws indices that are known."""
        if getattr(function, "__name__", "") not in DRAWS:
            return function(*args, **(kwargs or {}))
        if self.at == len(self.kept):
            self.kept.append(function(*args, **(kwargs or {})))
        self.at += 1
        return self.kept[self.at - 1].clone()


class FixedDraws:
    """A copy of a model whose draws of indices are those of its first run; other noise goes on."""

    def __init__(self, shadow: ShadowModel) -> None:
        self.shadow, self.draws = shadow, RepeatedDraws()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor | None, list[RecordedForward]]:
        """Call the copy as ShadowModel.run does."""
        self.draws.begin()
        with self.draws:
            return self.shadow.run(args, kwargs)

    def first(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
        """What it gives; None where it draws no indices, or something else, too: two runs differ with the same ones."""
        one, _ = self.run(args, kwargs)
        other, _ = self.run(args, kwargs) if self.draws.kept else (None, [])
        return one if one is not None and other is not None and torch.equal(one, other) else None
