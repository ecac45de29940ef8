"""Runs of a copy that is given its targets: do its outputs depend on them always, never, or by chance?"""

from __future__ import annotations

import random
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from debugtracer.observers.model.position_trials import swapped
from debugtracer.observers.model.shadow_model import ShadowModel, is_dense

RUNS = 12  # with generators of their own (ours: a share of a half is all or none of them once in 2,000 times)
SLOW_S = 0.1  # a first run that takes longer is the last (ours)
SHORTEST = 3  # positions (ours)


def is_given(value: Any, target: Tensor) -> bool:
    """Whether an argument holds the targets of a loss: all, or all but those of the first position."""
    if not isinstance(value, Tensor) or not is_dense(value) or not 2 <= value.dim() <= 3:
        return False
    if value.is_floating_point() != target.is_floating_point() or min(value.shape[:2]) < 1:
        return False
    wanted = target.detach().flatten()
    own = value.detach().to(wanted.device, wanted.dtype)
    for part in (own, own[1:], own[:, 1:]):
        if part.numel() == wanted.numel() and part.numel() and torch.equal(part.flatten(), wanted):
            return True
    return False


def targets_used(shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], given: Tensor) -> int | None:
    """The number of runs in which an output changes with the targets of one position in the middle: all where
    the copy is a decoder that goes on from them, some where chance decides; None where it cannot be asked."""
    began = perf_counter()
    base = run(shadow, args, kwargs, 0)
    if base is None or perf_counter() - began > SLOW_S or not bool(torch.isfinite(base).all()):
        return None
    again = run(shadow, args, kwargs, 0)
    if again is None or not torch.equal(base, again):
        return None
    runs = RUNS if draws(shadow, args, kwargs, base.device) else 1
    found = [one for dim in (0, 1) if (one := along(shadow, args, kwargs, given, dim, runs)) is not None]
    by_chance = next((one for one, _ in found if 0 < one < runs), None)
    if by_chance is not None or not found:
        return by_chance
    return RUNS if max(later for _, later in found) == runs else 0


def along(
    shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], given: Tensor, dim: int, runs: int
) -> tuple[int, int] | None:
    """The same along one dimension of the targets, and in how many runs only outputs behind that position changed, as
    those of a decoder do; None where the dimension is too short or has one value alone."""
    place = given.shape[dim] // 2
    other = given.clone()
    here = other.select(dim, place)
    here.copy_(here + here.std() if given.is_floating_point() and here.numel() > 1 else here.roll(1))
    if not given.is_floating_point():
        before = given.select(dim, place)
        here.copy_(torch.where(here == before, given.select(dim, place - 1), here))
    if given.shape[dim] < SHORTEST or torch.equal(other, given):
        return None
    used = later = 0
    for seed in range(runs):
        a, b = (run(shadow, *swapped(args, kwargs, given, one), seed) for one in (given, other))
        if a is None or b is None or a.shape != b.shape:
            return None
        changed = not torch.equal(a, b)
        used += changed
        reaches = a.dim() > dim and a.shape[dim] > place + 1
        later += changed and reaches and torch.equal(a.narrow(dim, 0, place + 1), b.narrow(dim, 0, place + 1))
    return used, later


def draws(shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], device: torch.device) -> bool:
    """Whether a run moves a generator."""
    run(shadow, args, kwargs, 0)
    after = next_numbers(device)
    seed_all(0)
    return after != next_numbers(device)


def next_numbers(device: torch.device) -> list[float]:
    """What each generator gives next."""
    places = {torch.device("cpu"), device}
    return [random.random(), float(np.random.random()), *(float(torch.rand((), device=one)) for one in places)]


def seed_all(seed: int) -> None:
    """Put all generators at a seed."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def run(shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], seed: int) -> Tensor | None:
    """The output of a run with all generators at that seed; who calls puts them back."""
    seed_all(seed)
    output, _ = shadow.run(args, kwargs)
    return output
