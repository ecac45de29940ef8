"""Trials of a model along the dimensions of its inputs: does it look at more than one position?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.model.shadow_model import ShadowModel

SHORTEST = 4  # positions of a dimension that is tried (ours)
OTHER = 0.25  # share of the other positions that must really have changed (ours: images share their margins)
MOST_TRIED = 6  # dimensions of all inputs (ours)


class CallLog(TorchFunctionMode):
    """Keeps what each torch function was given and gave."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[RawFrames, list[Tensor], Tensor | None]] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and keep its tensors."""
        output = function(*args, **(kwargs or {}))
        first = output[0] if isinstance(output, (tuple, list)) and output else output
        given = [a for a in (*args, *(kwargs or {}).values()) if isinstance(a, Tensor)]
        if given and isinstance(first, Tensor):
            self.calls.append((raw_frames(2), given, first))
        return output


def other_positions(
    shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], base: Tensor, samples: int
) -> dict[str, Any] | None:
    """Replace all positions but the first, or all but the last, of one dimension by those of another sample: is the
    output the same bit for bit? Nothing is known where all of it is one number, as behind a relu that is closed."""
    tried = 0
    if not base.numel() or torch.equal(base, base.flatten()[0].expand_as(base)):
        return None
    for value in (*args, *kwargs.values()):
        if not isinstance(value, Tensor) or value.dim() < 2 or value.shape[0] != samples:
            continue
        for dim in range(1, value.dim()):
            length = value.shape[dim]
            if length < SHORTEST or tried >= MOST_TRIED:
                continue
            tried += 1
            for kept in (0, length - 1):
                other = with_position(value, dim, kept)
                if other is None or not ignores(shadow, args, kwargs, value, other, base):
                    continue
                if not any(not ignores(shadow, args, kwargs, value, v, base) for v in others(value, dim, kept)):
                    continue  # this position does not matter either: that is another fault
                frames = frames_of(where_lost(shadow, args, kwargs, value, other))
                return {
                    "changed": True, "position": kept, "dim": dim, "length": length,
                    "frame": frames[0] if frames else None,
                }  # fmt: skip
    return None


def with_position(value: Tensor, dim: int, kept: int) -> Tensor | None:
    """The values of the sample before, but for one position; None where they hardly differ."""
    other = value.roll(1, 0)
    other.select(dim, kept).copy_(value.select(dim, kept))
    # the kept position is equal by itself
    share = float((other != value).float().mean()) * value.shape[dim] / (value.shape[dim] - 1)
    return other if share >= OTHER else None


def others(value: Tensor, dim: int, kept: int) -> Iterator[Tensor]:
    """Yield the values of other samples, and of floats one whose kept position alone is another (where all samples
    have the same)."""
    yield value.roll(1, 0)
    if value.is_floating_point():
        shifted = value.clone()
        shifted.select(dim, kept).add_(value.std())
        yield shifted


def ignores(
    shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], value: Tensor, other: Tensor, base: Tensor
) -> bool:
    """Whether the output is the same with another value of one argument."""
    output, _ = shadow.run(*swapped(args, kwargs, value, other))
    return output is not None and torch.equal(output, base)


def swapped(
    args: tuple[Any, ...], kwargs: dict[str, Any], value: Tensor, other: Tensor
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with another value of one of them."""
    return tuple(other if v is value else v for v in args), {k: other if v is value else v for k, v in kwargs.items()}


def where_lost(
    shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], value: Tensor, other: Tensor
) -> RawFrames:
    """The line of the last call whose inputs differ and whose output does not."""
    logs = []
    for given in (value, other):
        with CallLog() as log:
            shadow.run(*swapped(args, kwargs, value, given))
        logs.append(log.calls)
    lost: RawFrames = ()
    for (line, given_a, a), (_, given_b, b) in zip(*logs, strict=False):
        if same(a, b) and not all(map(same, given_a, given_b)):
            lost = line
    return lost


def same(a: Tensor | None, b: Tensor | None) -> bool:
    """Whether two tensors are equal in shape and values."""
    return a is not None and b is not None and a.shape == b.shape and torch.equal(a, b)
