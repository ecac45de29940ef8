"""What a training loop can run under: nothing, debug-tracer, and the peers that look for the same faults. Each is a
context around some steps of a model."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import nn

Configuration = Callable[[nn.Module], AbstractContextManager[None]]


@contextmanager
def bare(model: nn.Module) -> Iterator[None]:
    yield


@contextmanager
def watched(model: nn.Module) -> Iterator[None]:
    """Under the one session of this process, with the settings of the environment."""
    from debugtracer import session

    running = session.active()
    if running is None:
        running = session.start()
    else:
        running.install()
    try:
        yield
    finally:
        running.remove()


@contextmanager
def anomaly_mode(model: nn.Module) -> Iterator[None]:
    with torch.autograd.set_detect_anomaly(True):
        yield


@contextmanager
def hugging_face(model: nn.Module) -> Iterator[None]:
    from transformers.debug_utils import DebugUnderflowOverflow

    debug = DebugUnderflowOverflow(model)
    try:
        yield
    finally:
        for module in model.modules():
            module._forward_hooks.clear()
        del debug


@contextmanager
def wandb_watch(model: nn.Module) -> Iterator[None]:
    """wandb.watch(log="all") at its default frequency; the run is offline and starts once."""
    os.environ |= {"WANDB_SILENT": "true", "WANDB_MODE": "offline"}
    import wandb

    if wandb.run is None:
        wandb.init(mode="offline", project="steps", dir=tempfile.mkdtemp())
    wandb.watch(model, log="all")
    try:
        yield
    finally:
        wandb.unwatch(model)


@contextmanager
def torchlens_trace(model: nn.Module) -> Iterator[None]:
    """A trace of torchlens for each forward pass of the loop, beside it."""
    import torchlens

    inside: list[bool] = []

    def trace(module: nn.Module, given: tuple[Any, ...]) -> None:
        if not inside:
            inside.append(True)
            torchlens.trace(module, *given)
            inside.clear()

    handle = model.register_forward_pre_hook(trace)
    try:
        yield
    finally:
        handle.remove()


WATCHED = "watched"
PEERS: dict[str, tuple[str, Configuration]] = {
    "set_detect_anomaly": ("torch", anomaly_mode),
    "DebugUnderflowOverflow": ("transformers", hugging_face),
    "wandb.watch": ("wandb", wandb_watch),
    "torchlens.trace": ("torchlens", torchlens_trace),
}


def installed() -> list[str]:
    """The peers whose package is here."""
    return [name for name, (package, _) in PEERS.items() if importlib.util.find_spec(package) is not None]


def configuration(name: str) -> Configuration:
    """The context of a name; watched with other settings is watched too."""
    if name.startswith(WATCHED):
        return watched
    return bare if name == "bare" else PEERS[name][1]
