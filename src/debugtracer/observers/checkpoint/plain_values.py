"""What the models and the objects around the loop hold in plain attributes: no state_dict has them, so a resumed run
makes them anew."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.definitions import assigned_at
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.program_stack import program_stack
from debugtracer.recorder.state.attributes import OWN
from debugtracer.trace.facts.checkpoint import PlainValue
from debugtracer.trace.number import number

MOST_ELEMENTS = 4096  # of a tensor or an array; a larger one is data and no statistic (ours)
MOST_ENTRIES = 100_000  # of a vocabulary (ours)
MOST_VALUES = 64  # attributes kept of one look (ours)
MOST_NAMES = 200  # locals of a frame looked at (ours)
MOST_FRAMES = 6  # of the user's (ours)


def plain_values(models: Sequence[nn.Module]) -> tuple[PlainValue, ...]:
    """Read the numbers, small tensors and vocabularies that the parts of the models hold as plain attributes, and that
    objects of the user's classes hold which a frame of the stack knows. Call under no_grad."""
    found: dict[str, PlainValue | None] = {}
    for owner, name, value in attributes(models):
        summary = summary_of(value)
        if summary is None:
            continue
        at = f"{type(owner).__name__}.{name}"
        size, mean, spread = summary
        counts = () if isinstance(owner, nn.Module) else counts_of(owner)
        kept = PlainValue(
            name=at,
            size=size,
            mean=number(mean),
            spread=number(spread),
            counts=counts,
            frame=assigned_at(type(owner), name),
        )
        # two objects of one class: which is which is not known
        found[at] = kept if found.get(at, kept) == kept else None
    return tuple(value for value in found.values() if value is not None)[:MOST_VALUES]


def attributes(models: Sequence[nn.Module]) -> Iterator[tuple[Any, str, Any]]:
    """Yield (owner, attribute, value) of the models and of the objects around the loop."""
    seen: set[int] = set()
    for model in models:
        for part in model.modules():
            yield from own(part, seen)
            for value in list(vars(part).values()):
                if is_of_user(value):
                    yield from own(value, seen)
    for value in around():
        yield from own(value, seen)


def own(owner: Any, seen: set[int]) -> Iterator[tuple[Any, str, Any]]:
    """Yield what one object holds, once."""
    if id(owner) in seen:
        return
    seen.add(id(owner))
    for name, value in list(vars(owner).items()):
        if name not in OWN:
            yield owner, name, value


def around() -> Iterator[Any]:
    """Yield the objects of the user's classes that frames of the stack know."""
    for frame in islice(program_stack(sys._getframe(1)), MOST_FRAMES):
        yield from [value for value in list(locals_of(frame).values())[:MOST_NAMES] if is_of_user(value)]


def is_of_user(value: Any) -> bool:
    """Whether it is an object of a class of the user's that is neither a module nor an optimizer."""
    if isinstance(value, (nn.Module, Optimizer, type, Tensor)) or not isinstance(
        getattr(value, "__dict__", None), dict
    ):
        return False
    file = getattr(sys.modules.get(type(value).__module__), "__file__", None)
    return file is not None and is_user_file(file)


def counts_of(owner: Any) -> tuple[int, ...]:
    """The whole numbers that an object holds: those of a meter differ from step to step."""
    return tuple(v for v in vars(owner).values() if isinstance(v, int) and not isinstance(v, bool))


def summary_of(value: Any) -> tuple[int, float, float] | None:
    """Return size, mean and spread of what may be a statistic; a vocabulary is told by a sum over its entries."""
    if isinstance(value, float):
        return 1, value, 0.0
    if isinstance(value, dict):
        plain = 1 < len(value) <= MOST_ENTRIES and all(isinstance(k, str) and type(v) is int for k, v in value.items())
        return (len(value), float(zlib.crc32(repr(sorted(value.items())).encode())), 0.0) if plain else None
    if type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "kind", "") == "f":
        value = torch.as_tensor(value) if getattr(value, "size", 0) <= MOST_ELEMENTS else None
    if not isinstance(value, Tensor) or isinstance(value, nn.Parameter) or value.requires_grad:
        return None
    if not value.is_floating_point() or value.is_meta or not 0 < value.numel() <= MOST_ELEMENTS:
        return None
    numbers = value.detach().double()
    return value.numel(), float(numbers.mean()), float(numbers.std(unbiased=False))
