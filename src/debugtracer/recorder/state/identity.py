"""A weak mapping by identity: what the program defines as equality or hash of its objects is never called."""

from __future__ import annotations

import weakref
from collections.abc import ItemsView, Iterator, MutableMapping, ValuesView
from typing import Any, TypeVar, cast, overload

from debugtracer.recorder.state.weak import WeakRef

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class ById(MutableMapping[K, V]):
    """Keys are modules, optimizers, loaders: a WeakKeyDictionary would compare them with ==. torch.utils.weak does the
    same 15 times slower."""

    def __init__(self) -> None:
        self.data: dict[int, tuple[weakref.ref[K], V]] = {}

    def __setitem__(self, key: K, value: V) -> None:
        """Set the value of a key; the entry is removed when the key dies."""
        number, data = id(key), self.data

        def gone(reference: Any) -> None:
            if number in data and data[number][0] is reference:
                del data[number]

        known = data.get(number)
        data[number] = (known[0] if known is not None and known[0]() is key else WeakRef(key, gone), value)

    def __getitem__(self, key: K) -> V:
        """Return the value of a key. Raises KeyError."""
        reference, value = self.data[id(key)]
        if reference() is not key:
            raise KeyError(type(key).__name__)
        return value

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: V | D) -> V | D: ...
    def get(self, key: K, default: Any = None) -> Any:
        """Look up a key, without an exception on the way."""
        known = self.data.get(id(key))
        return known[1] if known is not None and known[0]() is key else default

    def __contains__(self, key: object) -> bool:
        """Whether this very object is there."""
        known = self.data.get(id(key))
        return known is not None and known[0]() is key

    def __delitem__(self, key: K) -> None:
        """Delete the entry of a key. Raises KeyError."""
        self[key]
        del self.data[id(key)]

    def __iter__(self) -> Iterator[K]:
        """Yield keys that are alive, as they were put in; the mapping may change meanwhile."""
        for reference, _ in list(self.data.values()):
            key = reference()
            if key is not None:
                yield key

    def items(self) -> ItemsView[K, V]:
        """The pairs whose keys are alive, as they were put in; the mapping may change meanwhile."""
        found = [(key, value) for reference, value in list(self.data.values()) if (key := reference()) is not None]
        return cast("ItemsView[K, V]", found)

    def values(self) -> ValuesView[V]:
        """The values whose keys are alive, in the same order."""
        found = [value for reference, value in list(self.data.values()) if reference() is not None]
        return cast("ValuesView[V]", found)

    def __len__(self) -> int:
        """The number of entries; one whose key has just died may be among them."""
        return len(self.data)
