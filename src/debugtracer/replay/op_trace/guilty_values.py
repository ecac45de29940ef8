"""A few values of a bad result at its bad coordinates, and what the op read there."""

from __future__ import annotations

import math
from typing import Any, TypedDict

from torch import Tensor
from torch._ops import OpOverload

from debugtracer.replay.op_trace.calls import shape_of
from debugtracer.replay.op_trace.classes import floating, plain, tensors, values_at, worst_mask

MOST_PLACES, MOST_READS = 4, 4  # of one op (ours)
ALONG = {  # ops that keep the shape and work along a dimension: what stood at the same place says much
    "_softmax", "_log_softmax", "_safe_softmax", "_softmax_backward_data", "_log_softmax_backward_data", "cumsum",
    "cumprod", "logcumsumexp", "native_layer_norm", "native_batch_norm", "_native_batch_norm_legit",
}  # fmt: skip
STRETCH, STRETCHES = 65_536, 64  # elements that are searched at once, and how often (ours)


class GuiltyValues(TypedDict, total=False):
    """Columns of the op table; the values are those of `at`, one after the other."""

    at: tuple[tuple[int, ...], ...]
    values: tuple[float, ...]
    reads: tuple[str, ...]
    read: tuple[tuple[float, ...], ...]


def guilty_values(
    func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], result: Tensor, names: dict[int, str]
) -> GuiltyValues:
    """The first bad places of a result, its values there, and those of what the op read there where it works element by
    element or along a dimension. `names` says by the id of a tensor what it is; what the op itself wrote over is left
    out. Syncs the host."""
    shown = plain(result)
    at = first_places(worst_mask(shown))
    shape = shape_of(func)
    read: dict[str, tuple[float, ...]] = {}
    if (shape.pointwise or shape.name in ALONG) and not shape.mutable:
        for tensor in tensors([*args, *kwargs.values()]):
            name = names.get(id(tensor), "")
            alike = shape.pointwise or tensor.shape == shown.shape
            if name and alike and floating(tensor) and len(read) < MOST_READS:
                values = values_at(tensor, tuple(shown.shape), at)
                if values:
                    read[name] = values
    return {
        "at": at,
        "values": values_at(shown, tuple(shown.shape), at),
        "reads": tuple(read),
        "read": tuple(read.values()),
    }


def first_places(mask: Tensor) -> tuple[tuple[int, ...], ...]:
    """The first coordinates of a mask in row-major order; of a very large one only its beginning is searched."""
    flat, found = mask.reshape(-1), list[int]()
    for start in range(0, min(flat.numel(), STRETCH * STRETCHES), STRETCH):
        here = flat[start : start + STRETCH].nonzero()[: MOST_PLACES - len(found), 0]
        found += [start + place for place in here.tolist()]
        if len(found) >= MOST_PLACES:
            break
    return tuple(place_of(place, tuple(mask.shape)) for place in found)


def place_of(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The coordinates of the n-th element in row-major order."""
    sizes = [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]
    return tuple(flat // size % shape[dim] for dim, size in enumerate(sizes))
