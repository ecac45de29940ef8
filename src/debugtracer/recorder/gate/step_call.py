"""What a call of `Optimizer.step` carries: its closure, and the settings of its groups."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import repeat
from typing import Any

import torch
from torch.optim import Optimizer

set_grad_enabled: Any = torch._C._set_grad_enabled
MOST_GROUPS = 32  # groups whose settings are kept whole at each step (ours)


def settings(optimizer: Optimizer) -> list[dict[str, Any]]:
    """The settings of each group; many groups (one for each parameter) keep their learning rates alone."""
    groups = optimizer.param_groups
    if len(groups) > MOST_GROUPS:
        return [{"lr": valued(group.get("lr"))} for group in groups]
    return [{k: valued(v) for k, v in group.items() if k != "params"} for group in groups]


def valued(setting: Any) -> Any:
    """A setting as it is now: a schedule changes tensors in place."""
    return setting.clone() if isinstance(setting, torch.Tensor) else setting


def decides_itself(optimizer: Optimizer) -> bool:
    """True for LBFGS and any step not torch's own: it may call its closure several times or between two writes."""
    kind: Any = type(optimizer)
    return steps_itself(kind)


@functools.lru_cache(maxsize=32)
def steps_itself(kind: Any) -> bool:
    """Whether this is true of a class; asked once of each."""
    step = getattr(kind, "step", None)
    return issubclass(kind, torch.optim.LBFGS) or not str(getattr(step, "__module__", "")).startswith("torch.optim")


def closure_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[], Any] | None:
    """The closure that a step was called with, if any."""
    closure = kwargs.get("closure", args[0] if args else None)
    return closure if callable(closure) else None


def after_closure(
    closure: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Run the closure with gradients on; the arguments of a step that is given its result. Where they are on nothing
    is entered: what a closure leaves behind is set back all the same."""
    before = torch.is_grad_enabled()
    if not before:
        set_grad_enabled(True)
    try:
        result = closure()
    finally:
        set_grad_enabled(before)
    return with_closure(repeat(result).__next__, args, kwargs)


def with_closure(
    closure: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of step with another closure."""
    return (args, {**kwargs, "closure": closure}) if "closure" in kwargs else ((closure, *args[1:]), kwargs)


def as_recorded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of step as the tape keeps them: what the closure gave would keep its graph alive as long as the
    tape, and torch's own steps do nothing with it but hand it back."""
    return (args, kwargs) if closure_of(args, kwargs) is None else with_closure(no_loss, args, kwargs)


def no_loss() -> None:
    """Do nothing, in place of a closure, in a step that is executed again: its backward stands on the tape."""


def left_out(optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
    """Run a step without its write; the answer is what its closure gave."""
    closure = closure_of(args, kwargs)
    return closure() if closure is not None else None
