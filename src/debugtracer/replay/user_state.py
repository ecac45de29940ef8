"""Guards user state that a replayed forward or hook may change: contents, values and generators are restored."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType
from typing import Any

from torch import nn

from debugtracer.callsites.construction import is_user_file
from debugtracer.recorder.state.attributes import OWN, contents, put_contents
from debugtracer.replay.in_place import InPlace, cannot_go_back

MOST_NESTED = 1000  # members of a container that are looked into (ours)


class UserStateGuard:
    """Shallow copies of every container within reach of some modules' code, and of the values that can change in
    place."""

    def __init__(self, modules: Iterable[nn.Module], functions: Iterable[Callable[..., Any]]) -> None:
        self.kept: dict[int, tuple[Any, Any]] = {}
        self.in_place = InPlace()
        self.refusal = ""
        """Why the code cannot be run once more without a trace; empty where it can."""
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
        """Copy containers among the attributes of an object, and values that change in place."""
        used = names_used(owner.__class__) if isinstance(owner, nn.Module) else frozenset()
        for name, value in vars(owner).items():
            if not (isinstance(owner, nn.Module) and name in OWN):
                if name in used:
                    self.refuse(f"{type(owner).__name__}.{name}", value)
                self.keep(value)

    def of_code(self, function: Any) -> None:
        """Copy containers that a function can reach: its object, closure, defaults and the globals it names."""
        if isinstance(function, MethodType):
            if hasattr(function.__self__, "__dict__") and not isinstance(function.__self__, type):
                self.of_object(function.__self__)
            function = function.__func__
        if isinstance(function, FunctionType):
            for value in reachable(function):
                self.refuse(f"what {function.__qualname__} uses", value)
                self.keep(value)

    def refuse(self, name: str, value: Any) -> None:
        """Refuse queues, held locks and iterators, which move on when they are used."""
        what = cannot_go_back(value)
        if what and not self.refusal:
            self.refusal = f"the model's code uses {what} ({name}), which another run of it would move on"

    def keep(self, value: Any, depth: int = 2) -> None:
        """Copy one container, and the containers in it; a value that changes in place; what an object of the user's
        holds."""
        self.in_place.keep(value)
        if depth and is_users_object(value):
            value = vars(value)
        inside = contents(value)
        if inside is None or id(value) in self.kept:
            return
        self.kept[id(value)] = value, inside
        if depth and len(inside) <= MOST_NESTED:
            for member in inside.values() if isinstance(inside, dict) else inside:
                self.keep(member, depth - 1)

    def restore(self) -> None:
        """Restore the contents; the objects stay the same."""
        for value, before in self.kept.values():
            put_contents(value, before)
        self.in_place.restore()


def names_used(kind: type) -> frozenset[str]:
    """The names that the methods of a module's class use, but for its constructor."""
    methods = [
        f
        for one in kind.__mro__
        if one is not nn.Module
        for name, f in vars(one).items()
        if isinstance(f, FunctionType) and name != "__init__"
    ]
    return frozenset(name for method in methods for name in method.__code__.co_names)


def is_users_object(value: Any) -> bool:
    """True for a plain object of a class that the user has written."""
    kind = type(value)
    if isinstance(value, (nn.Module, type, FunctionType, MethodType)) or not hasattr(value, "__dict__"):
        return False
    module = sys.modules.get(kind.__module__)
    return is_user_file(
        getattr(module, "__file__", None) or ("<stdin>" if kind.__module__ == "__main__" else "<unknown>")
    )


def hooks_of(module: nn.Module) -> Iterator[Any]:
    """Yield functions registered on a module."""
    for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"):
        yield from (getattr(module, name, None) or {}).values()


def reachable(function: FunctionType) -> Iterator[Any]:
    """Yield values of closure cells, defaults and named globals; empty cells are passed over."""
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
