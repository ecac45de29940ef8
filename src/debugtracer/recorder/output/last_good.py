"""The last good state of a run as a file: models, optimizers, schedulers, scalers, generators and the places of
loaders, checked before it is written and after; the one before it stays."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.resume.loader_passes import LoaderPasses
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.finite import all_finite
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.state.roots import unwrapped
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.store.saved_state import FOLDER, FORMAT, Sum, checked, names, read_sums, sha256


class LastGood:
    """Writes one file a rank, `last-good/rank-N.pt`, that torch.load reads with weights_only, and its sum beside it;
    the state before it becomes `rank-N.older.pt`."""

    def __init__(self, state: RunState, passes: LoaderPasses | None = None) -> None:
        self.state, self.passes = state, passes

    def write(self, run: Path, rank: int, optimizers: Iterable[Optimizer]) -> Path:
        """Write the present state and read it again. Raises DebugTracerError where it holds a bad value, is sharded, or
        cannot be written."""
        if self.state.roots.sharded:
            raise DebugTracerError("the weights are sharded over ranks, which is not supported")
        parts = self.parts(list(optimizers))
        if not all_finite(tensors((parts["models"], parts["optimizers"]))):
            raise DebugTracerError("the present state holds values that are not finite")
        target = names(run / FOLDER, rank)[0]
        try:
            self.save(parts, target, rank)
        except (OSError, RuntimeError) as error:
            raise DebugTracerError(f"{target} could not be written ({type(error).__name__}: {error})") from None
        return target

    def parts(self, optimizers: list[Optimizer]) -> dict[str, Any]:
        """Collect everything by kind; each entry says what class it came from."""
        state = self.state
        return {
            "format": FORMAT,
            "step": state.step,
            "iteration": state.iteration,
            "models": [entry(model) for model in outermost([unwrapped(root) for root in state.roots.alive()])],
            "optimizers": [entry(optimizer) for optimizer in optimizers],
            "schedulers": [entry(scheduler) for scheduler in state.schedulers],
            "scalers": [entry(scaler) for scaler in state.scalers],
            "generators": RngState().plain(),
            "loaders": self.passes.places() if self.passes is not None else [],
        }

    def save(self, parts: dict[str, Any], target: Path, rank: int) -> None:
        """Write under another name and read it back; its sum is known before it takes the place of the last one, which
        steps back: killed at any moment, one of the two is whole."""
        target.parent.mkdir(parents=True, exist_ok=True)
        _, older, note = names(target.parent, rank)
        fresh = target.with_suffix(".part")
        try:
            self.put(parts, fresh)
            last = whole(target, note)
            kept = last or whole(older, note)
            told: dict[str, Any] = {key: parts[key] for key in ("format", "step", "iteration")}
            told["sha256"] = sha256(fresh)
            if kept is not None:
                told["older"] = {"step": kept.step, "iteration": kept.iteration, "sha256": kept.sha256}
            replace(note, (json.dumps(told) + "\n").encode())
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        if last is not None:
            target.replace(older)
        fresh.replace(target)
        synced(target.parent)

    def put(self, parts: dict[str, Any], fresh: Path) -> None:
        """Write one file that loads without executing anything; schedulers or scalers that do not are left out."""
        torch.save(parts, fresh)
        if not loads(fresh):
            parts = {**parts, "schedulers": [], "scalers": []}  # an object of the user's own in their state
            torch.save(parts, fresh)
            if not loads(fresh):
                raise RuntimeError("the state of model or optimizer holds objects that weights_only does not read")
        synced(fresh)


def whole(path: Path, note: Path) -> Sum | None:
    """What the sums say of a state that is there and whole; None for any other. Raises OSError."""
    known = read_sums(note)
    if known is None or not path.exists():
        return None
    seen = sha256(path)
    return next((told for told in known.all() if told.sha256 == seen), None)


def outermost(models: list[nn.Module]) -> list[nn.Module]:
    """The models that are no part of another one."""
    inside = {id(part) for model in models for part in model.modules() if part is not model}
    return [model for model in models if id(model) not in inside]


def entry(part: Any) -> dict[str, Any]:
    """The class and the state of one part."""
    return {"class": type(part).__name__, "state": part.state_dict()}


def loads(path: Path) -> bool:
    """True if the file can be read without executing anything in it."""
    try:
        torch.load(path, weights_only=True, map_location="cpu")
    except Exception:  # what it raises differs by the object that it refuses
        return False
    return True


def replace(path: Path, data: bytes) -> None:
    """Write a small file that is there as a whole or not at all. Raises OSError."""
    fresh = path.with_suffix(".part.json")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def synced(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def verified(path: Path) -> dict[str, Any]:
    """Read a last good state. Raises DebugTracerError where its bytes are not those that were written."""
    checked(path)
    loaded: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    return loaded
