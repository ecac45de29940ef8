"""One position of each row that is taken out of a tensor: by an index, by select, by gather."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.observers.graph.graph_walk import node_of

FIRST = 0  # `Read.dim` of a place along the first dimension


class Read(NamedTuple):
    """One position of each row of a tensor that was taken out of it."""

    function: str
    node: int
    """Of what was taken out."""
    source: tuple[int, int]
    """The node of the whole tensor and which of its outputs it is."""
    shape: tuple[int, int]
    dim: int
    """The dimension of the positions: 0 or 1."""
    place: int | Tensor
    raw: RawFrames


def read_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Read | None:
    """A position of each row, taken out of a tensor with a graph; None for anything else."""
    whole = args[0] if args else None
    if not isinstance(whole, Tensor) or not isinstance(output, Tensor) or not output.requires_grad:
        return None
    made, node = node_of(whole), node_of(output)
    if made is None or node is None or whole.dim() < 2 or not whole.is_floating_point() or min(whole.shape[:2]) < 2:
        return None
    sizes = int(whole.shape[0]), int(whole.shape[1])
    given = [*args[1:3], *(kwargs[word] for word in ("dim", "index") if word in kwargs)]
    if name == "__getitem__":
        found = taken(args[1], sizes) if len(args) > 1 else None
    elif len(given) < 2 or not isinstance(given[0], int):
        return None
    else:
        found = selected(given[0] % whole.dim(), given[1], sizes)
    if found is None:
        return None
    dim, place = found
    source = int(made._sequence_nr()), int(whole.output_nr)
    return Read(name, int(node._sequence_nr()), source, sizes, dim, place, raw_frames(3))


def taken(index: Any, sizes: tuple[int, int]) -> tuple[int, int | Tensor] | None:
    """The dimension and the place of one position for each row that an index takes."""
    if type(index) is int:
        return FIRST, index % sizes[0]
    if not isinstance(index, tuple) or len(index) < 2:
        return None
    rows, place = index[:2]
    if not all(isinstance(one, slice) or one is Ellipsis or one is None for one in index[2:]):
        return None
    if isinstance(rows, slice) and rows == slice(None):
        if type(place) is int:
            return 1, place % sizes[1]
        if isinstance(place, slice) and place.step is None:
            begin, end, _ = place.indices(sizes[1])
            return (1, begin) if end == begin + 1 else None
        return None
    if not (isinstance(rows, Tensor) and isinstance(place, Tensor)) or rows.shape != (sizes[0],) != place.shape:
        return None
    whole = not place.is_floating_point() and place.dtype != torch.bool and place.shape == rows.shape
    numbered = whole and torch.equal(rows.cpu(), torch.arange(sizes[0], device="cpu"))
    return (1, place.detach().cpu() % sizes[1]) if numbered else None


def selected(dim: int, index: Any, sizes: tuple[int, int]) -> tuple[int, int | Tensor] | None:
    """The same for select(dim, index), and for gather(1, index) with one position a row."""
    if type(index) is int:
        return (dim, index % sizes[dim]) if dim < 2 else None
    if not isinstance(index, Tensor) or dim != 1 or index.dim() < 2 or tuple(index.shape[:2]) != (sizes[0], 1):
        return None
    places = index.detach().flatten(1).cpu()
    return (1, places[:, 0]) if bool((places == places[:, :1]).all()) else None


def single(reads: list[Read]) -> list[Read]:
    """The reads of a tensor that is read at one position alone, at a line that reads tensors of one shape."""
    places: dict[tuple[int, int], list[Read]] = {}
    shapes: dict[RawFrames, set[tuple[int, int]]] = {}
    for read in reads:
        places.setdefault(read.source, []).append(read)
        shapes.setdefault(read.raw, set()).add(read.shape)
    alone = [same[0] for same in places.values() if all(is_alike(one, same[0]) for one in same)]
    return [read for read in alone if len(shapes[read.raw]) == 1]


def is_alike(one: Read, other: Read) -> bool:
    """Whether two reads are of one position."""
    if one.dim != other.dim or isinstance(one.place, int) != isinstance(other.place, int):
        return False
    if isinstance(one.place, Tensor) and isinstance(other.place, Tensor):
        return torch.equal(one.place, other.place)
    return bool(one.place == other.place)
