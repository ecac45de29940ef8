"""Plain attributes of modules that a forward changes (counters, caches, lists of auxiliary losses), and a copy of their
contents."""

from __future__ import annotations

from collections import deque
from typing import Any

from torch import Tensor, nn

CONTAINERS = (list, dict, set, deque)
SCALARS = (int, float, bool, str, type(None))
MOST_ITEMS = 100_000  # items of a container copied per step at most; a larger one is left alone (ours)
# what nn.Module keeps for itself, `training` included
OWN = frozenset(vars(nn.Module())) | {"_compiled_call_impl", "_hf_hook", "_old_forward"}

BUFFERS = "_buffers"  # a forward may put another tensor under a name of it (self.running = 0.9 * self.running)

Key = tuple[int, str]


def contents(value: Any) -> Any:
    """A shallow copy of a container; None for anything else."""
    if isinstance(value, dict):
        return dict(value) if len(value) <= MOST_ITEMS else None
    return value.copy() if type(value) in CONTAINERS and len(value) <= MOST_ITEMS else None


def put_contents(value: Any, before: Any) -> None:
    """Restore a container in place; the object stays the same, and is not touched when nothing changed."""
    if isinstance(value, dict):
        if len(value) != len(before) or any(
            a is not b or value[a] is not before[b] for a, b in zip(value, before, strict=True)
        ):
            value.clear()
            dict.update(value, before)  # a Counter would add
    elif isinstance(value, list):
        value[:] = before
    elif isinstance(value, set):
        value.intersection_update(before)
        value.update(before)
    else:
        value.clear()
        value.extend(before)


def signature(value: Any) -> Any:
    """What differs between a changed attribute and an unchanged one: the value of a scalar, else identity and, for a
    container, its members."""
    if type(value) in SCALARS:
        return value
    if type(value) in CONTAINERS:
        return id(value), len(value), tuple(map(id, value))[-64:]
    return id(value)


def signatures(module: nn.Module) -> dict[Key, Any]:
    """The signatures of the plain attributes of a module and of all below, and of which buffers they hold, keyed by
    (id of module, attribute)."""
    found = {
        (id(m), name): signature(value) for m in module.modules() for name, value in vars(m).items() if name not in OWN
    }
    return found | {(id(m), BUFFERS): tuple(map(id, m._buffers.values())) for m in module.modules() if m._buffers}


class AttributeCopy:
    """A copy of some attributes."""

    def __init__(self, wanted: list[tuple[nn.Module, str]]) -> None:
        self.values = [(m, name, vars(m).get(name), contents(vars(m).get(name))) for m, name in wanted]

    def restore(self) -> None:
        """Restore values and contents as they were."""
        for module, name, value, inside in self.values:
            if inside is not None:
                put_contents(value, inside)
            vars(module)[name] = value


def everything(module: nn.Module) -> AttributeCopy:
    """Keep all plain attributes of a module and of all below, and which buffers they hold."""
    plain = [(m, name) for m in module.modules() for name in vars(m) if name not in OWN]
    return AttributeCopy([*plain, *buffer_names(module)])


def buffer_names(module: nn.Module) -> list[tuple[nn.Module, str]]:
    """The places of all buffers of a module and of all below, to keep with AttributeCopy."""
    return [(m, BUFFERS) for m in module.modules() if m._buffers]


def changed(module: nn.Module, before: dict[Key, Any]) -> dict[Key, nn.Module]:
    """The attributes that are not as they were, new ones included."""
    owners = {id(m): m for m in module.modules()}
    return {
        key: owners[key[0]] for key, value in signatures(module).items() if key not in before or before[key] != value
    }


def place_in(module: Any, tensor: Tensor) -> tuple[Any, str, Any] | None:
    """Where a module or one below holds a tensor: (module, attribute, key); list positions count from the end, a replay
    appends again."""
    for part in module.modules():
        for name, value in vars(part).items():
            if value is tensor:
                return part, name, None
            if name in OWN:
                continue
            if isinstance(value, (list, tuple)):
                place = next((n for n, v in enumerate(value) if v is tensor), None)
                if place is not None:
                    return part, name, place - len(value)
            elif isinstance(value, dict):
                key = next((k for k, v in value.items() if v is tensor), None)
                if key is not None:
                    return part, name, key
    return None
