"""What an attribute of a dataset holds, as a number: of large ones a sample."""

from __future__ import annotations

import sys
import zlib
from typing import Any

from torch import Tensor

from debugtracer.observers.model.shadow_model import is_dense

ITEMS = 256  # elements of a list or array that are looked at (ours)
WHOLE = 2**14  # elements of one that is read whole (ours)
STRIDE = 7919  # a prime
DEPTH = 3  # levels of lists and dicts (ours)
PLAIN = (bool, int, float, complex, str, bytes, type(None))


def attribute_digest(value: Any, depth: int = DEPTH) -> int | None:
    """A number that changes with the contents; None for what cannot be read, or lies in memory that processes share."""
    text = words(value, depth)
    return zlib.crc32(text) if text is not None else None


def words(value: Any, depth: int) -> bytes | None:
    """The bytes of a value, of a large one a sample."""
    if isinstance(value, PLAIN):
        return repr(value)[:1024].encode(errors="replace")
    if isinstance(value, Tensor):
        return of_tensor(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray:
        return of_array(value)
    if isinstance(value, (list, tuple)) and depth:
        return joined(len(value), spread(value), depth)
    if isinstance(value, dict) and depth:
        return joined(len(value), [part for pair in spread(list(value.items())) for part in pair], depth)
    return None


def of_tensor(value: Tensor) -> bytes | None:
    """The elements of a tensor in memory of this process alone."""
    if not is_dense(value) or value.device.type != "cpu" or value.requires_grad or value.is_shared():
        return None
    flat = value.reshape(-1) if value.numel() <= WHOLE else value[places(len(value))].reshape(-1)[:WHOLE]
    return repr((tuple(value.shape), flat.tolist())).encode()


def of_array(value: Any) -> bytes | None:
    """The elements of an array that owns its memory, or is a view of one that does."""
    owner = value
    while type(owner.base) is type(value):
        owner = owner.base
    if owner.base is not None or value.dtype.hasobject:
        return None
    flat = value.reshape(-1) if value.size <= WHOLE else value[places(len(value))].reshape(-1)[:WHOLE]
    return repr((value.shape, flat.tolist())).encode()


def places(length: int) -> list[int]:
    """A few rows of many, in no pattern that a table may have."""
    return [place * STRIDE % length for place in range(min(ITEMS, length))]


def spread(parts: Any) -> list[Any]:
    """Take a part of them, evenly."""
    return list(parts[:: max(len(parts) // ITEMS, 1)])


def joined(length: int, parts: list[Any], depth: int) -> bytes | None:
    """The bytes of the parts; None where one of them cannot be read."""
    inner = [words(part, depth - 1) for part in parts]
    return b"|".join([str(length).encode(), *[w for w in inner if w is not None]]) if None not in inner else None
