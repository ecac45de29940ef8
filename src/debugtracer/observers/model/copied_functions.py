"""Functions that are attributes of modules and hold modules or tensors (`self.body = lambda x: self.norm(x)`), made
anew for a copy of the model: deepcopy leaves functions as they are, so the copy's would reach the original's layers."""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import Iterable, Iterator
from types import CellType, FunctionType
from typing import Any

from torch import Tensor, nn

DEPTH = 4  # functions held by functions, lists in lists (ours)
MOST = 1000  # values of a list that are looked at: a vocabulary holds no layers (ours)


def functions_with_parts(model: nn.Module) -> Iterator[FunctionType]:
    """Yield the functions of a model's modules that hold modules or tensors, those that these hold too."""
    seen: set[int] = set()
    for module in model.modules():
        for value in vars(module).values():
            yield from functions_in(value, seen, DEPTH)


def functions_in(value: Any, seen: set[int], depth: int) -> Iterator[FunctionType]:
    """Yield such functions in a value: itself, in a list, a tuple or a dict, in a closure or a default."""
    if isinstance(value, FunctionType) and id(value) not in seen and has_part(value, depth):
        seen.add(id(value))
        yield value
    if depth:
        for held in contents(value):
            yield from functions_in(held, seen, depth - 1)


def has_part(value: Any, depth: int = DEPTH) -> bool:
    """Whether a module or a tensor is reached through a value, which a copy of the model must have for itself."""
    if isinstance(value, (nn.Module, Tensor)):
        return True
    return depth > 0 and any(has_part(held, depth - 1) for held in contents(value))


def contents(value: Any) -> Iterable[Any]:
    """Give what a function, a list, a tuple or a dict holds, of a long one its first MOST; nothing for all else."""
    if isinstance(value, FunctionType):
        return tuple(held_by(value))
    if isinstance(value, (list, tuple)):
        return value[:MOST]
    return itertools.islice(value.values(), MOST) if type(value) is dict else ()


def held_by(function: FunctionType) -> Iterator[Any]:
    """What a function keeps alive beside its globals."""
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not filled yet
            yield cell.cell_contents


class CopiedFunctions:
    """The functions of one model for one copy of it: `copies` is the memo of deepcopy, in which they stand before the
    model is copied and from which they are filled afterwards."""

    def __init__(self, model: nn.Module, copies: dict[int, Any]) -> None:
        """Put an empty function into the memo for each that holds parts; nothing of the program is changed."""
        self.copies = copies
        self.pairs = [(function, without_closure(function)) for function in functions_with_parts(model)]
        copies.update({id(function): fresh for function, fresh in self.pairs})

    def fill(self) -> None:
        """Give each its closure and defaults, with the copy's modules and tensors. Raises what copying raises."""
        for function, fresh in self.pairs:
            fresh.__defaults__ = self.own(function.__defaults__)
            fresh.__kwdefaults__ = self.own(function.__kwdefaults__)
            for old, new in zip(function.__closure__ or (), fresh.__closure__ or (), strict=True):
                with contextlib.suppress(ValueError):  # not filled yet
                    new.cell_contents = self.own(old.cell_contents)

    def own(self, value: Any) -> Any:
        """The copy's value where parts are reached through it, else the value itself."""
        return copy.deepcopy(value, self.copies) if has_part(value) else value


def without_closure(function: FunctionType) -> FunctionType:
    """The same code with a closure of its own that is not filled."""
    cells = tuple(CellType() for _ in function.__closure__ or ())
    fresh = FunctionType(function.__code__, function.__globals__, function.__name__, None, cells or None)
    fresh.__dict__.update(function.__dict__)
    return fresh
