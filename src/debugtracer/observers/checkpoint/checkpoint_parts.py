"""Which parts of a training state lie in a saved object, recognised by their keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

Setup = tuple[tuple[int, float | None, tuple[tuple[str, str], ...]], ...]
DEPTH = 4  # levels of a saved object looked at (ours)
GENERATOR_BYTES = 16  # smallest state of a generator: that of CUDA


@dataclass
class CheckpointParts:
    """What was found."""

    weights: dict[str, Tensor] = field(default_factory=dict)
    """By path inside the object."""
    states: list[str] = field(default_factory=list)
    """Paths of what Module.state_dict() made: only there a non-finite value is a weight and not somebody's table."""
    words: set[str] = field(default_factory=set)
    setups: list[Setup] = field(default_factory=list)
    """Of the optimizer states."""
    counts: list[int] = field(default_factory=list)
    """Whole numbers outside the states of optimizers, schedulers and scalers."""


def parts_of(saved: Any) -> CheckpointParts:
    """Look into mappings, sequences and modules."""
    parts = CheckpointParts()
    for _ in walk(saved, "", DEPTH, parts):
        pass
    parts.words |= ({"weights"} if parts.weights else set()) | ({"counter"} if parts.counts else set())
    return parts


def walk(value: Any, path: str, depth: int, parts: CheckpointParts) -> Iterator[None]:
    """Walk one level; a known form is not entered."""
    if isinstance(value, nn.Module):
        value = value.state_dict()
    if isinstance(value, Tensor):
        if value.dtype == torch.uint8 and value.dim() == 1 and value.numel() >= GENERATOR_BYTES:
            parts.words.add("generator")
        elif value.dim() or path:
            parts.weights[path] = value
    elif isinstance(value, Mapping):
        word = form_of(value)
        if word:
            parts.words.add(word)
            parts.setups += [groups_of(value["param_groups"])] if word == "optimizer" else []
            return
        parts.states += [path] if hasattr(value, "_metadata") else []
        for key, part in value.items() if depth else ():
            yield from walk(part, f"{path}.{key}" if path else str(key), depth - 1, parts)
    elif isinstance(value, (list, tuple)) and depth and len(value) < 64:
        for place, part in enumerate(value):
            yield from walk(part, f"{path}[{place}]", depth - 1, parts)
    elif isinstance(value, int) and not isinstance(value, bool):
        parts.counts.append(value)
    yield


def form_of(value: Mapping[Any, Any]) -> str:
    """Return `optimizer`, `scheduler`, `scaler` or nothing, by the keys that torch writes."""
    keys = set(map(str, value))
    if {"state", "param_groups"} <= keys:
        return "optimizer"
    if {"last_epoch", "_step_count"} <= keys or {"num_bad_epochs", "best"} <= keys:
        return "scheduler"
    return "scaler" if {"scale", "growth_factor", "backoff_factor"} <= keys else ""


def is_of_weights_only(saved: Any) -> bool:
    """Whether Lightning made it with `save_weights_only`: it puts the states of all optimizers in otherwise."""
    return isinstance(saved, Mapping) and "pytorch-lightning_version" in saved and "optimizer_states" not in saved


def groups_of(groups: Any) -> Setup:
    """Return each group's number of parameters, first learning rate and plain options, which a resumed training sets
    again."""
    found = []
    for group in groups if isinstance(groups, (list, tuple)) else ():
        options = {str(key): value for key, value in group.items() if key not in ("params", "lr", "initial_lr")}
        plain = tuple(
            sorted(
                (key, repr(value))
                for key, value in options.items()
                if isinstance(value, (bool, int, float, str, tuple, type(None)))
            )
        )
        rate = group.get("initial_lr", group.get("lr"))
        found.append((len(group.get("params", ())), float(rate) if isinstance(rate, (int, float)) else None, plain))
    return tuple(found)


def rate_beside(setup: Setup, others: Iterable[Setup]) -> float | None:
    """The largest rate of another setup with the same groups and options, and other rates."""
    for other in others:
        if other != setup and [(n, plain) for n, _, plain in other] == [(n, plain) for n, _, plain in setup]:
            return max((rate for _, rate, _ in other if rate is not None), default=None)
    return None


def nonfinite(parts: CheckpointParts, most: int = 8) -> tuple[str, ...]:
    """The paths of weights with NaN or infinite elements."""
    named = [
        (path, t.detach()) for path, t in parts.weights.items() if any(path.startswith(state) for state in parts.states)
    ]
    return tuple(path for path, t in named if is_filled(t) and is_broken(t))[:most]


def is_filled(tensor: Tensor) -> bool:
    """Whether there are floating values: none in a parameter of a lazy module before its first batch."""
    return (
        not is_lazy(tensor)
        and tensor.is_floating_point()
        and not tensor.is_nested
        and tensor.device.type != "meta"
        and tensor.numel() > 0
    )


def is_broken(tensor: Tensor) -> bool:
    """True for NaN, or an infinity in anything but a mask (which holds 0 or 1 beside it)."""
    finite = torch.isfinite(tensor)
    if bool(finite.all()):
        return False
    rest = tensor[finite]
    return bool(torch.isnan(tensor).any()) or not bool(((rest == 0) | (rest == 1)).all())


def print_of(weights: Mapping[str, Tensor]) -> tuple[int, float] | None:
    """How many floating tensors and the sum of their sums: equal for the same weights, whatever their names."""
    floats = [t for t in weights.values() if isinstance(t, Tensor) and is_filled(t)]
    return (len(floats), sum(float(t.detach().double().sum()) for t in floats)) if floats else None
