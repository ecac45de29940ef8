"""Copies of the weights that the program keeps in dicts and lists (an EMA by hand): found from the frames of its loop,
so that a roll-back takes them along."""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from time import perf_counter
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import LIBRARY, USER, place_of
from debugtracer.recorder.state.roots import unwrapped
from debugtracer.recorder.state.sizes import sizes

MOST_SEEN = 2000  # objects looked at in one search (ours: a millisecond or two)
DEEP = 4  # containers and objects between a name of the loop and the copies (ours: trainer, callbacks, one of them)
WIDE = 256  # entries of a container that are followed (ours); one that holds the weights may have more
ALONE = 2  # references to an object that we alone hold: ours, and that of the question


class Average(NamedTuple):
    """One tensor that the program averages or moves itself, and its copy."""

    tensor: Tensor
    value: Tensor
    holder: dict[Any, Any] | list[Any] | None = None
    """What the program keeps it in, where an average may be a new tensor at each step."""
    key: Any = None

    def restore(self) -> None:
        """Put the value back, and the tensor to where it was."""
        with torch.no_grad():  # what is written into the .data of a sparse tensor does not reach it
            (self.tensor.data if self.tensor.layout is torch.strided else self.tensor).copy_(self.value)
        if self.holder is None:
            return
        if isinstance(self.holder, dict) or self.key < len(self.holder):
            self.holder[self.key] = self.tensor


class HeldWeights:
    """One per process, in the modes that go back. It searches at the first snapshots and then ever more seldom."""

    def __init__(self) -> None:
        self.looks = 0
        self.search_s = 0.0
        """Seconds of a search at the last look: it is no cost of each snapshot."""
        self.holders: list[dict[Any, Any] | list[Any]] = []

    def look(self, models: Iterable[nn.Module], trained: list[Tensor]) -> list[dict[Any, Any] | list[Any]]:
        """The containers that hold copies of the weights now; those that the program has let go are forgotten."""
        self.looks += 1
        begin = perf_counter()
        if self.looks & (self.looks - 1) == 0:
            self.holders = list(found_from(sys._getframe(1), Weights(list(models), trained)))
        self.search_s = perf_counter() - begin
        self.holders = [self.holders[at] for at in range(len(self.holders)) if self.is_used(at)]
        return self.holders

    def is_used(self, at: int) -> bool:
        """Whether anybody beside us holds a container."""
        return sys.getrefcount(self.holders[at]) > ALONE


class Weights:
    """What a container must look like to hold copies of them."""

    def __init__(self, models: list[nn.Module], trained: list[Tensor]) -> None:
        bare = [unwrapped(model) for model in models]
        self.shapes = {name: sizes(tensor) for model in bare for name, tensor in model.state_dict().items()}
        self.orders = [[sizes(p) for p in trained]]
        self.orders += [[sizes(p) for p in model.parameters()] for model in bare]
        self.orders += [[sizes(p) for p in model.parameters() if p.requires_grad] for model in bare]
        self.by_object = {id(p): sizes(p) for p in trained}
        live = [t for model in bare for t in (*model.parameters(), *model.buffers())] + trained
        self.own = {id(t) for t in live} | {id(p.grad) for p in trained}
        self.places = {place for t in live if type(t.data) is Tensor and (place := memory(t))}

    def are_in(self, held: Any) -> bool:
        """Whether a dict or list holds copies of the weights and nothing else."""
        if not held or type(next(iter(held.values() if isinstance(held, dict) else held))) is not Tensor:
            return False
        values = list(held.values()) if isinstance(held, dict) else held
        if not all(type(value) is Tensor and value.grad_fn is None and id(value) not in self.own for value in values):
            return False
        if isinstance(held, dict):
            shapes = [self.shapes.get(key) if isinstance(key, str) else self.of_object(key) for key in held]
            fits = shapes == [sizes(value) for value in values]
        else:
            fits = len(held) > 1 and [sizes(value) for value in held] in self.orders
        return fits and not any(memory(value) in self.places for value in values)

    def of_object(self, key: Any) -> Any:
        """The shape of the weight that is a key, or whose id is."""
        return self.by_object.get(key if type(key) is int else id(key))


def memory(tensor: Tensor) -> int:
    """Where its values lie; 0 for a tensor that has no memory of its own (sparse, empty)."""
    return tensor.data_ptr() if tensor.layout is torch.strided and not tensor.is_nested else 0


def found_from(frame: FrameType | None, weights: Weights) -> Iterator[dict[Any, Any] | list[Any]]:
    """The containers of copies that the names of the loop lead to."""
    seen: set[int] = set()
    level = list(named_in_stack(frame))
    for _ in range(DEEP + 1):
        inner: list[Any] = []
        for thing in level:
            if id(thing) in seen or len(seen) >= MOST_SEEN:
                continue
            seen.add(id(thing))
            if is_plain(thing) and weights.are_in(thing):
                yield thing
            else:
                inner.extend(parts_of(thing))
        level = inner


def named_in_stack(frame: FrameType | None) -> Iterator[Any]:
    """What the program's own functions on the stack have names for, and the objects whose methods are running."""
    files: set[int] = set()
    while frame is not None:
        place = place_of(frame.f_code)
        if place == USER:
            yield from locals_of(frame).values()
            if id(frame.f_globals) not in files:
                files.add(id(frame.f_globals))
                yield from list(frame.f_globals.values())
        elif place == LIBRARY and "self" in frame.f_code.co_varnames[:1]:
            yield locals_of(frame).get("self")
        frame = frame.f_back


def is_plain(thing: Any) -> bool:
    """Whether it is a dict or list whose methods are Python's own."""
    return type(thing) in (dict, list, OrderedDict, defaultdict)


def parts_of(thing: Any) -> Iterable[Any]:
    """What a container or an object of the program holds; none of its code is called."""
    if is_plain(thing) or type(thing) is tuple:
        values = thing.values() if isinstance(thing, dict) else thing
        return list(values) if len(values) <= WIDE else ()
    kind = type(thing)
    plain: Any = object.__getattribute__
    if kind.__getattribute__ is not plain or not kind.__dictoffset__ or issubclass(kind, (Tensor, type, ModuleType)):
        return ()
    own, module = vars(thing), issubclass(kind, nn.Module)
    return [value for name, value in list(own.items()) if not (module and name.startswith("_"))]
