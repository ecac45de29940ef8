"""A trial of a model that is to give its input back: which places of the input reach which places of the output?"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.observers.model.difference import CHANGED
from debugtracer.observers.model.shadow_model import ShadowModel, is_dense
from debugtracer.recorder.state.roots import plain_path

MOST, SOME = 64, 32  # places of an input that are all changed, else those in its middle (ours)
FEWEST = 6  # places (ours)
SAMPLES = 4  # of which each place is changed: a closed relu hides one (ours)
SLOW_S = 0.5  # expected of the trial (ours)


class PlaceOrder(NamedTuple):
    """What one trial has shown."""

    tried: int
    own: int
    reached: int
    ordered: bool


def is_given_back(value: Any, target: Tensor) -> bool:
    """Whether the target of a loss is the input, or its classes are the input in whole numbers."""
    if not isinstance(value, Tensor) or not value.is_floating_point() or value.dim() < 2 or not is_dense(value):
        return False
    if (
        not is_dense(target)
        or target.numel() != value.numel()
        or target.shape[0] not in (value.shape[0], value.numel())
    ):
        return False
    own, asked = value.detach().double().flatten(), target.detach().double().flatten().to(value.device)
    if bool((own == own[0]).all()):
        return False
    if target.is_floating_point():
        return torch.equal(own, asked)
    most = own.abs().amax()
    return torch.equal((own * (asked.abs().amax() / most)).round(), asked)


def place_order(shadow: ShadowModel, value: Tensor, given_as: Any, target: Tensor) -> PlaceOrder | None:
    """What comes of a few samples of which places are changed one at a time, all in one run. `given_as` makes the
    arguments of an input. None where the output has no value or scores for each place, or it would take too long."""
    samples = value[:SAMPLES]
    wide = samples[0].numel()
    places = range(wide) if wide <= MOST else range(wide // 2 - SOME // 2, wide // 2 + SOME // 2)
    if len(places) < FEWEST:
        return None
    taken = []
    for _ in range(2):  # the first run of a layer prepares
        begin = perf_counter()
        base, _ = shadow.run(*given_as(samples))
        taken.append(perf_counter() - begin)
        if base is None or by_place(base, samples, target) is None:
            return None
    if min(taken) * len(places) > SLOW_S:
        return None
    tried = changed(samples, places)
    output, _ = shadow.run(*given_as(tried.flatten(0, 1)))
    scores = by_place(output, tried.flatten(0, 1), target) if output is not None else None
    if scores is None or not bool(torch.isfinite(scores).all()):
        return None
    apart = scores.reshape(len(places) + 1, len(samples), wide, -1).double()
    moved = (apart[1:] - apart[:1]).abs() > CHANGED * apart[0].std().clamp_min(1e-12)
    reach = moved.any(3).any(1)[:, torch.tensor(list(places), device=moved.device)].cpu()
    others = reach & ~torch.eye(len(places), dtype=torch.bool)
    return PlaceOrder(len(places), int(reach.diagonal().sum()), int(others.sum()), is_ordered(others))


def changed(samples: Tensor, places: range) -> Tensor:
    """The samples as they are, and once for each place with another value there: the other one of two, else one that is
    a deviation away."""
    tried = samples.unsqueeze(0).repeat(len(places) + 1, *(1,) * samples.dim())
    flat = tried.flatten(2)
    low, high = samples.aminmax()
    two = bool(((samples == low) | (samples == high)).all())
    for row, place in enumerate(places, 1):
        flat[row, :, place] = low + high - flat[row, :, place] if two else flat[row, :, place] + samples.std()
    return flat.reshape(tried.shape)


def by_place(output: Tensor, given: Tensor, target: Tensor) -> Tensor | None:
    """The outputs as (samples, places, scores); None where they have none for each place."""
    rows, wide = given.shape[0], given[0].numel()
    if output.dim() < 2 or output.shape[0] != rows:
        return None
    if output[0].numel() == wide and target.is_floating_point():
        return output.reshape(rows, wide, 1)
    if target.is_floating_point() or output[0].numel() % wide:
        return None
    if output[0, 0].numel() == wide:  # the classes come first
        return output.reshape(rows, -1, wide).transpose(1, 2)
    return output.reshape(rows, wide, -1) if output[0].numel() // output.shape[-1] == wide else None


def is_ordered(reach: Tensor) -> bool:
    """Whether the places can be put in an order in which each reaches later ones alone."""
    left = list(range(len(reach)))
    while left:
        first = [place for place in left if not any(bool(reach[other, place]) for other in left)]
        if not first:
            return False
        left = [place for place in left if place not in first]
    return True


def masked_layer(model: nn.Module) -> str | None:
    """The layer whose mask decides what an output sees: the first of convolutions, the last of others."""
    masked = [(plain_path(name), layer) for name, layer in model.named_modules() if has_mask(layer)]
    convolved = [name for name, layer in masked if any(p.dim() > 2 for p in layer.parameters(recurse=False))]
    return convolved[0] if convolved else masked[-1][0] if masked else None


def has_mask(layer: nn.Module) -> bool:
    """Whether a layer holds zeros and ones of the shape of one of its weights."""
    shapes = {tuple(p.shape) for p in layer.parameters(recurse=False) if p.dim() > 1}
    held = [*layer._buffers.values(), *(v for v in vars(layer).values() if isinstance(v, Tensor))]
    for value in held:
        if value is not None and is_dense(value) and value.dim() > 1 and value.shape[-2:] in {s[-2:] for s in shapes}:
            plain = ((value == 0) | (value == 1)).all()
            if bool(plain) and bool((value == 0).any()):
                return True
    return False
