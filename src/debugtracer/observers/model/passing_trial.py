"""Tries an autograd.Function that hands on its input: by what does it multiply the gradient?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.observers.model.derivative_trial import doubled

SIZES = (1.0, 1e-6, 1e6)  # of gradients that are tried: limits are seen (ours)
CLOSE = 1e-9  # share by which the factors of elements may differ (ours)
WIDE = 3.0  # of the input's size, or of 1 (ours)
OTHER = 3.0  # times a number that it is given (any would do)


class Passing(NamedTuple):
    """What came of it."""

    ratio: float
    numbers: int
    unused: bool
    from_zero: bool


def passing(apply: Callable[..., Any], args: tuple[Any, ...], place: int) -> Passing | None:
    """The positive factor of the gradient of a Function that gives what it is given; None for any other. Raises what
    the user's code raises."""
    places = [n for n, one in enumerate(args) if isinstance(one, (int, float)) and not isinstance(one, bool)]
    zeros = [n for n in places if args[n] == 0]
    one = factor(apply, replaced(args, zeros, 1.0), place)
    if one is None or one <= 0:
        return None
    other = factor(apply, tuple(OTHER * (v or 1.0) if n in places else v for n, v in enumerate(args)), place)
    return Passing(one, len(places), bool(places) and other == one, bool(zeros))


def replaced(args: tuple[Any, ...], places: list[int], value: float) -> tuple[Any, ...]:
    """The arguments with another number at some places."""
    return tuple(value if n in places else one for n, one in enumerate(args))


def factor(apply: Callable[..., Any], args: tuple[Any, ...], place: int) -> float | None:
    """The one number by which all gradients are multiplied, whatever their size and sign; None where there is none, or
    another output than the input."""
    given = tuple(map(doubled, args))
    generator = torch.Generator().manual_seed(0)
    found: float | None = None
    for size in SIZES:
        noise = torch.randn(given[place].shape, generator=generator, dtype=torch.float64).to(given[place].device)
        wide = WIDE * max(float(given[place].abs().mean()), 1.0)  # a range that is left gives another output
        x = (given[place] + wide * noise).requires_grad_()
        y = apply(*given[:place], x, *given[place + 1 :])
        if not isinstance(y, Tensor) or y.shape != x.shape or y.dtype != x.dtype or not torch.equal(y, x):
            return None
        came_in = size * torch.randn(x.shape, generator=generator, dtype=x.dtype).to(x.device)
        if came_in.numel() > 1:
            came_in.view(-1)[0] = torch.nan  # a guard would take it out
        (gave,) = torch.autograd.grad(y, x, came_in, allow_unused=True)
        if gave is None or gave.shape != x.shape or not torch.equal(gave.isnan(), came_in.isnan()):
            return None
        ratios = (gave / came_in).flatten()
        ratios = ratios[~ratios.isnan()]
        one = float(ratios[0]) if len(ratios) else 0.0
        if not len(ratios) or float((ratios - one).abs().max()) > CLOSE * abs(one):
            return None
        if found is not None and abs(one - found) > CLOSE * abs(found):
            return None
        found = one
    return None if found is None else float(f"{found:.9g}")
