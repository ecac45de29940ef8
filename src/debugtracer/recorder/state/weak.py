"""Weak references of a class of our own, since torch.utils.swap_tensors refuses tensors that anybody refers to
weakly."""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

T = TypeVar("T")


class WeakRef(weakref.ref[T]):
    """A weakref.ref in everything but its type. What it refers to stays the same Python object when torch swaps its
    content."""

    __slots__ = ()


class UnnoticedWeakref:
    """Stands for the module weakref inside torch.utils: `getweakrefs` leaves out ours. swap_tensors asks it for nothing
    else."""

    def __getattr__(self, name: str) -> Any:
        """Forward to the module weakref."""
        return getattr(weakref, name)

    def getweakrefs(self, value: Any) -> list[Any]:
        """The references that the program holds, without ours."""
        return [reference for reference in weakref.getweakrefs(value) if type(reference) is not WeakRef]
