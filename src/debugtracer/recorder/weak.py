"""Weak references of ours to tensors, told apart from the program's: torch.utils.swap_tensors refuses a tensor that anybody refers to weakly."""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

T = TypeVar("T")


class Weak(weakref.ref[T]):
    """A weakref.ref in everything but its type. What it refers to stays the same Python object when torch swaps its content."""

    __slots__ = ()


class Unnoticed:
    """Stands for the module weakref inside torch.utils: `getweakrefs` leaves out ours. swap_tensors asks it for nothing else."""

    def __getattr__(self, name: str) -> Any:
        """The module's own."""
        return getattr(weakref, name)

    def getweakrefs(self, value: Any) -> list[Any]:
        """Those of the program."""
        return [reference for reference in weakref.getweakrefs(value) if type(reference) is not Weak]
