"""The tensors inside a batch of any shape, each with the path a person would write to reach it, and how many rows they
make."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from types import FunctionType, MethodType, ModuleType

import torch

Leaf = tuple[str, torch.Tensor]

DEPTH = 5
MOST = 256
_OPAQUE = (str, bytes, int, float, complex, bool, type, FunctionType, MethodType, ModuleType, torch.nn.Module)


def leaves_of(batch: object, name: str = "batch") -> list[Leaf]:
    """The tensors of nested mappings, sequences, named tuples, dataclasses and objects with attributes; at most 256,
    five levels deep. No host sync."""
    found: list[Leaf] = []
    _walk(batch, name, DEPTH, found)
    return found


def _walk(value: object, path: str, depth: int, found: list[Leaf]) -> None:
    if isinstance(value, torch.Tensor):
        found.append((path, value))
        return
    if value is None or depth == 0 or isinstance(value, _OPAQUE):
        return
    for part, child in _children(value):
        if len(found) >= MOST:
            return
        _walk(child, path + part, depth - 1, found)


def _children(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", child) for key, child in value.items())
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from ((f".{field}", child) for field, child in zip(value._fields, value, strict=False))
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{place}]", child) for place, child in enumerate(value[:MOST]))
    elif dataclasses.is_dataclass(value):
        yield from ((f".{field.name}", getattr(value, field.name, None)) for field in dataclasses.fields(value))
    else:
        yield from ((f".{name}", child) for name, child in getattr(value, "__dict__", {}).items())


def rows_of(batch: object, leaves: list[Leaf], expected: int | None = None) -> int | None:
    """The rows of a batch: the commonest first dimension of its leaves, or `expected`, the samples drawn for it, where
    it is a list of so many or they lie in the second dimension."""
    sizes = Counter(leaf.size(0) for _, leaf in leaves if leaf.dim() > 0)  # a nested one has no shape
    rows = sizes.most_common(1)[0][0] if sizes else None
    if expected is not None and rows != expected and (_is_list_of(batch, expected) or _is_turned(leaves, expected)):
        return expected
    return rows


def _is_turned(leaves: list[Leaf], count: int) -> bool:
    """True where the samples lie in the second dimension, as a collate_fn with time first lays them: there in all that
    have one, and no vector has another length."""
    plain = [leaf for _, leaf in leaves if leaf.dim() > 0]
    if any(leaf.is_nested or leaf.layout is not torch.strided for leaf in plain):
        return False
    wide = [leaf for leaf in plain if leaf.dim() > 1]
    flat = all(leaf.shape[0] == count for leaf in plain if leaf.dim() == 1)
    return bool(wide) and flat and count > 1 and all(leaf.shape[1] == count != leaf.shape[0] for leaf in wide)


def _is_list_of(batch: object, count: int) -> bool:
    """True for what `collate_fn=list` or `tuple(zip(*samples))` makes: a list of `count` samples, or a few such
    lists."""
    if isinstance(batch, (list, tuple)):
        return _alike(batch, count) or (
            len(batch) > 0 and all(isinstance(part, (list, tuple)) and len(part) == count for part in batch)
        )
    if isinstance(batch, Mapping):
        return len(batch) > 0 and all(isinstance(part, (list, tuple)) and len(part) == count for part in batch.values())
    return False


def _alike(samples: list[object] | tuple[object, ...], count: int) -> bool:
    return len(samples) == count and len({_kind(sample) for sample in samples}) == 1


def _kind(sample: object) -> object:
    if isinstance(sample, torch.Tensor):
        return (torch.Tensor, sample.dtype, sample.dim())
    if isinstance(sample, Mapping):
        return (type(sample), tuple(sample))
    return (type(sample), len(sample)) if isinstance(sample, (list, tuple)) else type(sample)
