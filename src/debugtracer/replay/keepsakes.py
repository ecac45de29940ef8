"""Lists, dicts and sets that the user's forward or hooks may fill: a replay runs that code again, so their contents are put back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType
from typing import Any

from torch import nn

from debugtracer.recorder.attributes import OWN, contents, put_contents

MOST_NESTED = 1000  # members of a container that are looked into (ours)


class Keepsakes:
    """Shallow copies of every container within reach of some modules' code."""

    def __init__(self, modules: Iterable[nn.Module], functions: Iterable[Callable[..., Any]]) -> None:
        self.kept: dict[int, tuple[Any, Any]] = {}
        for module in modules:
            self.of_object(module)
            for kind in type(module).__mro__[: type(module).__mro__.index(nn.Module)]:
                self.of_object(kind)
            for hook in hooks_of(module):
                self.of_code(hook)
            self.of_code(type(module).forward)
        for function in functions:
            self.of_code(function)

    def of_object(self, owner: Any) -> None:
        """Containers among the attributes of an object."""
        for name, value in vars(owner).items():
            if not (isinstance(owner, nn.Module) and name in OWN):
                self.keep(value)

    def of_code(self, function: Any) -> None:
        """Containers that a function can reach: its object, closure, defaults and the globals it names."""
        if isinstance(function, MethodType):
            if hasattr(function.__self__, "__dict__") and not isinstance(function.__self__, type):
                self.of_object(function.__self__)
            function = function.__func__
        if isinstance(function, FunctionType):
            for value in reachable(function):
                self.keep(value)

    def keep(self, value: Any, depth: int = 2) -> None:
        """Copy one container, and the containers in it."""
        inside = contents(value)
        if inside is None or id(value) in self.kept:
            return
        self.kept[id(value)] = value, inside
        if depth and len(inside) <= MOST_NESTED:
            for member in inside.values() if isinstance(inside, dict) else inside:
                self.keep(member, depth - 1)

    def restore(self) -> None:
        """Contents back, the objects stay the same."""
        for value, before in self.kept.values():
            put_contents(value, before)


def hooks_of(module: nn.Module) -> Iterator[Any]:
    """Functions registered on a module."""
    for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"):
        yield from (getattr(module, name, None) or {}).values()


def reachable(function: FunctionType) -> Iterator[Any]:
    """Values of closure cells, defaults and named globals; empty cells are passed over."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue
    yield from function.__defaults__ or ()
    names = function.__globals__
    for name in function.__code__.co_names:
        if name in names:
            yield names[name]
