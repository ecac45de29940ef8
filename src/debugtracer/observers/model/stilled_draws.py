"""Runs of a model that draws noise, with the noise at its mean: what remains is a function of the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from debugtracer.observers.model.fixed_draws import RepeatedDraws
from debugtracer.observers.model.shadow_model import RecordedForward, ShadowModel

CENTRES = {"randn": 0.0, "randn_like": 0.0, "rand": 0.5, "rand_like": 0.5}
DROPOUTS = frozenset({"dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d"})


class StilledNoise(TorchFunctionMode):
    """Gives the middle of a distribution for what is drawn from it."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and put the middle in the place of what it drew."""
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if name in DROPOUTS and args and isinstance(args[0], Tensor):
            return args[0]
        output = function(*args, **kwargs)
        if not isinstance(output, Tensor):
            return output
        if name in CENTRES:
            return output.fill_(CENTRES[name])
        middle = MIDDLES.get(name)
        return output if middle is None else middle(output, args, kwargs)


def normal(output: Tensor, args: Any, kwargs: Any) -> Tensor:
    """The mean that torch.normal was given."""
    mean = kwargs.get("mean", args[0] if args else 0.0)
    return output.copy_(mean) if isinstance(mean, Tensor) else output.fill_(mean)


def normal_(output: Tensor, args: Any, kwargs: Any) -> Tensor:
    """The mean that `normal_` was given."""
    return output.fill_(kwargs.get("mean", args[1] if len(args) > 1 else 0.0))


def uniform_(output: Tensor, args: Any, kwargs: Any) -> Tensor:
    """The middle of the range that `uniform_` was given."""
    low = kwargs.get("from", args[1] if len(args) > 1 else 0.0)
    return output.fill_((low + kwargs.get("to", args[2] if len(args) > 2 else 1.0)) / 2)


def bernoulli(output: Tensor, args: Any, kwargs: Any) -> Tensor:
    """The likelier one of both results."""
    chance = args[0] if args else None
    alone = isinstance(chance, Tensor) and len(args) == 1 and not kwargs
    return output.copy_(chance >= 0.5) if alone and isinstance(chance, Tensor) else output


MIDDLES: dict[str, Callable[[Tensor, Any, Any], Tensor]] = {
    "normal": normal,
    "normal_": normal_,
    "uniform_": uniform_,
    "bernoulli": bernoulli,
}


class StilledDraws:
    """A copy of a model whose noise is at its mean, and whose draws of indices are those of its first run."""

    def __init__(self, shadow: ShadowModel) -> None:
        self.shadow, self.model, self.draws = shadow, shadow.model, RepeatedDraws()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor | None, list[RecordedForward]]:
        """Call the copy as ShadowModel.run does."""
        self.draws.begin()
        with self.draws, StilledNoise():
            return self.shadow.run(args, kwargs)

    def settles(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether two runs give the same now: nothing else is drawn."""
        one, other = self.run(args, kwargs)[0], self.run(args, kwargs)[0]
        return one is not None and other is not None and torch.equal(one, other)
