"""The parts of a saved state and the objects of a program that has just begun: which belongs to which, and its
values put into them."""

from __future__ import annotations

import copy
import gc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from debugtracer.recorder.output.shard_parts import load
from debugtracer.recorder.state.roots import plain_path

Entry = dict[str, Any]
RATES = ("lr", "initial_lr", "max_lr", "min_lr")
BASE_RATES = ("base_lrs", "max_lrs", "_last_lr")


def plain_state(state: dict[str, Any]) -> dict[str, Any]:
    """A state dict without the names of wrappers."""
    return {plain_path(name): value for name, value in state.items()}


def fits(module: nn.Module, saved: Entry) -> bool:
    """Whether names and shapes of a module are those that were saved."""
    now = {name: shape(value) for name, value in plain_state(module.state_dict()).items()}
    then = {name: shape(value) for name, value in plain_state(saved["state"]).items()}
    then |= plain_state({name: tuple(size) for name, size in saved.get("shards", {}).items()})
    return now == then


def read_shards(saved: Entry, like: dict[str, Any]) -> dict[str, torch.Tensor]:
    """What this rank holds of the sharded tensors of a part, laid out as the tensors of the program are."""
    known = {plain_path(name): value for name, value in like.items()}
    found = {name: torch.empty_like(known[plain_path(name)].detach()) for name in saved.get("shards", {})}
    if found:
        load(Path(saved["folder"]), {f"{saved['prefix']}.{name}": value for name, value in found.items()})
    return found


def shape(value: Any) -> Any:
    """The shape of a tensor; the type of anything else."""
    return tuple(value.shape) if isinstance(value, torch.Tensor) else type(value)


def load_model(module: nn.Module, saved: Entry) -> None:
    """Put weights and buffers into a module, under its own names."""
    kept = plain_state({**saved["state"], **read_shards(saved, module.state_dict())})
    module.load_state_dict({name: kept[plain_path(name)] for name in module.state_dict()})


def same_groups(optimizer: Optimizer, saved: Entry) -> bool:
    """Whether an optimizer holds as many groups and parameters as the saved one."""
    then = [len(group["params"]) for group in saved["state"]["param_groups"]]
    return then == [len(group["params"]) for group in optimizer.param_groups]


def load_optimizer(optimizer: Optimizer, saved: Entry, lr_scale: float, fresh: bool) -> None:
    """Put moments and group settings into an optimizer; with `fresh` the settings alone."""
    state = copy.deepcopy(saved["state"])
    if fresh:
        state["state"] = {}
    elif saved.get("shards"):
        held = [p for group in optimizer.param_groups for p in group["params"]]
        like = {name: held[int(name.partition(".")[0])] for name in saved["shards"]}
        for name, value in read_shards(saved, like).items():
            index, _, key = name.partition(".")
            state["state"][int(index)][key] = value
    for group in state["param_groups"]:
        for name in RATES:
            if name in group:
                group[name] = group[name] * lr_scale
    optimizer.load_state_dict(state)


def load_scheduler(scheduler: Any, saved: Entry, lr_scale: float) -> None:
    """Put the count and the rates of a schedule into it."""
    state = copy.deepcopy(saved["state"])
    scale_rates(state, lr_scale)
    scheduler.load_state_dict(state)


def scale_rates(state: dict[str, Any], lr_scale: float) -> None:
    """Scale the rates that a schedule starts from, those of schedules inside it too."""
    for name in BASE_RATES:
        if isinstance(state.get(name), list):
            state[name] = [rate * lr_scale for rate in state[name]]
    for inner in state.get("_schedulers") or ():
        if isinstance(inner, dict):
            scale_rates(inner, lr_scale)


def living_scalers() -> list[Any]:
    """Every GradScaler of the process, in the order in which they were built: nothing tells of one before its use."""
    kind = getattr(torch.amp, "GradScaler", None)
    if kind is None:
        return []
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kind)]


def pairs(live: Iterable[Any], saved: list[Entry]) -> list[tuple[Any, Entry]]:
    """The live objects beside saved ones of the same class, in the order in which they were built."""
    found, rest = [], list(saved)
    for one in live:
        match = next((e for e in rest if e["class"] == type(one).__name__), None)
        if match is not None:
            rest.remove(match)
            found.append((one, match))
    return found
