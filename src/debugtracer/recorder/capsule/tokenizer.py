"""Finds the tokenizer a loader's dataset or collate function holds, to show integer rows as text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import MethodType, ModuleType
from typing import Any

import torch

TOKENS = 256
_OBJECTS = 500
_DEPTH = 4
_LEAF = (str, bytes, int, float, complex, type, ModuleType, torch.Tensor, torch.nn.Module)


def decoder_for(loader: Any) -> Callable[[list[int]], str | None] | None:
    """A function from token ids to text, when an object with `decode` and `vocab_size` is reachable from the loader;
    else None."""
    try:
        tokenizer = find_tokenizer([getattr(loader, "dataset", None), getattr(loader, "collate_fn", None)])
    except Exception:
        return None  # looking at the user's attributes may run the user's code
    return None if tokenizer is None else functools.partial(decoded, tokenizer)


def find_tokenizer(roots: list[Any]) -> Any:
    """The nearest object with `decode` and an integer `vocab_size`, through attributes, partials, closures and bound
    methods; None if there is none."""
    level, seen = roots, set[int]()
    for _ in range(_DEPTH):
        below: list[Any] = []
        for value in level:
            if value is None or isinstance(value, _LEAF) or id(value) in seen or len(seen) > _OBJECTS:
                continue
            seen.add(id(value))
            if _is_tokenizer(value):
                return value
            below.extend(_reachable(value))
        level = below
    return None


def _is_tokenizer(value: Any) -> bool:
    try:
        return callable(getattr(value, "decode", None)) and isinstance(getattr(value, "vocab_size", None), int)
    except Exception:
        return False  # attributes may be the user's properties


def _reachable(value: Any) -> Iterator[Any]:
    if isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, MethodType):
        yield value.__self__
    elif callable(value) and hasattr(value, "__closure__"):
        yield from _cells(value)
    yield from getattr(value, "__dict__", {}).values()


def _cells(function: Any) -> Iterator[Any]:
    """What a function closes over, and the globals it names."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue  # not yet filled
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    yield from (function.__globals__[name] for name in names if name in function.__globals__)


def decoded(tokenizer: Any, ids: list[int]) -> str | None:
    """Decode the first 256 ids; negative ones (ignored labels) are left out, ids outside the vocabulary make it
    None."""
    try:
        kept = [one for one in ids[:TOKENS] if one >= 0]
        size = max(int(tokenizer.vocab_size), len(tokenizer) if hasattr(tokenizer, "__len__") else 0)
        if not kept or max(kept) >= size:
            return None
        return str(tokenizer.decode(kept))
    except Exception:
        return None  # the user's tokenizer may refuse anything
