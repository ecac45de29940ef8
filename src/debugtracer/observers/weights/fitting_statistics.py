"""Measures on the batch of an evaluation whether the running statistics of a network are those of what its batch norms
are given."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from debugtracer.observers.model.recorded_call import RecordedCall, may_be_called_again, simple
from debugtracer.observers.model.shadow_model import ShadowModel, is_traced, unnoticed
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.weights.fresh_statistics import norms_of, share_off

FEWEST = 32  # values of a channel that a mean and a variance are taken of (ours: the variance is known to a quarter)

Statistics = tuple[Tensor, Tensor]


def share_unfit(run: ObservedRun, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float | None:
    """The share of the channels of its batch norms that this batch has other statistics of, by a forward of a deep copy
    in evaluation mode; None where nothing can be said."""
    if not run.function_tests or not simple((*args, *kwargs.values())) or is_traced():
        return None
    if not may_be_called_again(module):
        return None
    call = RecordedCall(module, args, kwargs)
    held: list[Statistics] = []
    given: list[Statistics] = []
    with unnoticed(run.disabled):
        try:
            shadow = ShadowModel(module, call.autocast)  # of now: other weights may be put in within one iteration
            hooks = [
                norm.register_forward_pre_hook(functools.partial(note, held, given))
                for _, norm in norms_of(shadow.model)
            ]
            try:
                shadow.run(call.args, call.kwargs)
            finally:
                for hook in hooks:
                    hook.remove()
            return share_off(held, given) if given else None
        except Exception:
            return None  # a model that cannot be copied or called once more is no fault


def note(held: list[Statistics], given: list[Statistics], norm: _BatchNorm, args: tuple[Any, ...]) -> None:
    """Keep the running statistics of a norm beside those of what it is given."""
    x = args[0] if args else None
    if not isinstance(x, Tensor) or x.dim() < 2 or norm.running_mean is None or norm.running_var is None:
        return
    if x.numel() // max(x.shape[1], 1) < FEWEST:
        return
    var, mean = torch.var_mean(x.detach(), [n for n in range(x.dim()) if n != 1], correction=0)
    held.append((norm.running_mean, norm.running_var))
    given.append((mean.to(norm.running_mean.dtype), var.to(norm.running_var.dtype)))
