"""The last good state of a run as a file: models, optimizers, schedulers, scalers and generators, checked before it is
written and after."""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.entry import tensors
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.finite import all_finite
from debugtracer.recorder.state.roots import unwrapped

FORMAT = "debug-tracer.last-good/1"


class LastGood:
    """Writes one file a rank, `last-good/rank-N.pt`, that torch.load reads with weights_only, and its sum beside it."""

    def __init__(self, state: RunState) -> None:
        self.state = state

    def write(self, run: Path, rank: int, optimizers: Iterable[Optimizer]) -> Path:
        """Write the present state and read it again. Raises DebugTracerError where it holds a bad value, is sharded, or
        cannot be written."""
        if self.state.roots.sharded:
            raise DebugTracerError("the weights are sharded over ranks, which is not supported")
        parts = self.parts(list(optimizers))
        if not all_finite(tensors((parts["models"], parts["optimizers"]))):
            raise DebugTracerError("the present state holds values that are not finite")
        target = run / "last-good" / f"rank-{rank}.pt"
        try:
            self.save(parts, target)
        except (OSError, RuntimeError) as error:
            raise DebugTracerError(f"{target} could not be written ({type(error).__name__}: {error})") from None
        return target

    def parts(self, optimizers: list[Optimizer]) -> dict[str, Any]:
        """Collect everything by kind; each entry says what class it came from."""
        state = self.state
        models: list[nn.Module] = [unwrapped(module) for module in state.roots.alive()]
        return {
            "format": FORMAT,
            "step": state.step,
            "iteration": state.iteration,
            "models": [entry(model) for model in models],
            "optimizers": [entry(optimizer) for optimizer in optimizers],
            "schedulers": [entry(scheduler) for scheduler in state.schedulers],
            "scalers": [entry(scaler) for scaler in state.scalers],
            "generators": generators(),
        }

    def save(self, parts: dict[str, Any], target: Path) -> None:
        """Write under another name, read back, then take the place of the last one at once."""
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_suffix(".part")
        torch.save(parts, fresh)
        if not loads(fresh):
            parts = {**parts, "schedulers": [], "scalers": []}  # an object of the user's own in their state
            torch.save(parts, fresh)
            if not loads(fresh):
                raise RuntimeError("the state of model or optimizer holds objects that weights_only does not read")
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
            sums = hashlib.sha256(file.read()).hexdigest()
        fresh.replace(target)
        told = {"format": FORMAT, "step": parts["step"], "iteration": parts["iteration"], "sha256": sums}
        note = target.with_suffix(".json")
        note.with_suffix(".part.json").write_text(json.dumps(told) + "\n")
        note.with_suffix(".part.json").replace(note)


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


def generators() -> dict[str, Any]:
    """The state of the random generators, as plain values."""
    found: dict[str, Any] = {"torch": torch.default_generator.get_state(), "python": random.getstate()}
    if "numpy" in sys.modules:
        kind, keys, *rest = sys.modules["numpy"].random.get_state()
        found["numpy"] = (kind, torch.tensor(keys.astype("int64")), *rest)
    return found


def verified(path: Path) -> dict[str, Any]:
    """Read a last good state. Raises DebugTracerError where its bytes are not those that were written."""
    try:
        told = json.loads(path.with_suffix(".json").read_text())
        seen = hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        raise DebugTracerError(f"{path} cannot be read ({error}); expected it with its .json beside it") from None
    if told.get("sha256") != seen:
        raise DebugTracerError(f"{path} is damaged: sha256 {seen[:12]}, written was {str(told.get('sha256'))[:12]}")
    loaded: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    return loaded
