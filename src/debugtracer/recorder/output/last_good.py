"""The last good state of a run as a file: models, optimizers, schedulers, scalers, generators and the places of
loaders, checked before it is written and after; the one before it stays. Sharded weights lie in a folder beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from inspect import unwrap
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.background import Background
from debugtracer.recorder.output.shard_parts import host_shards
from debugtracer.recorder.output.shards import Shards, remove_all_but, without_shards
from debugtracer.recorder.resume.loader_passes import LoaderPasses
from debugtracer.recorder.run_state import RunState, several_ranks
from debugtracer.recorder.state.finite import all_finite
from debugtracer.recorder.state.host_values import host_values
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.state.roots import unwrapped
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.store.saved_state import FOLDER, FORMAT, Sum, checked, names, read_sums, sha256

BUSY = "the state before is still being written"
CUT_OFF = "unexpected pos"  # all that torch's writer says where the system took less than it was given
MARGIN_S = 10.0  # seconds beside those in which the ranks come together, for what follows (ours)


class LastGood:
    """Writes one file a rank, `last-good/rank-N.pt`, that torch.load reads with weights_only, and its sum beside it;
    the state before it becomes `rank-N.older.pt`."""

    def __init__(self, state: RunState, passes: LoaderPasses | None = None, shards: Shards | None = None) -> None:
        self.state, self.passes, self.shards = state, passes, shards
        self.background = Background()

    def write_later(self, run: Path, rank: int, optimizers: Iterable[Optimizer]) -> float | None:
        """Copy the present state and write it from a thread, unless the one before is still under way; the answer: CPU
        seconds that the thread took the last time, None where that is not known or was not well done. Raises
        DebugTracerError where the state holds a bad value or the one before could not be written."""
        if self.state.roots.sharded and self.shards is not None:
            return self.write_shards_later(run, rank, list(optimizers), self.shards)
        failed = self.background.failure()
        if failed is not None:
            raise not_written(names(run / FOLDER, rank)[0], failed)
        if self.background.busy and not several_ranks():
            return None
        parts, target = host_values(self.finite_parts(optimizers)), names(run / FOLDER, rank)[0]
        took_s = self.background.cpu_s if self.background.succeeded else None
        self.background.start(lambda: self.save(parts, target, rank, {}))
        return took_s

    def write_shards_later(self, run: Path, rank: int, live: list[Optimizer], shards: Shards) -> float | None:
        """The same for sharded weights: all ranks come here at the same step, and their threads meet on the disk."""
        name, target = shards.begin(self.state.step), names(run / FOLDER, rank)[0]
        if self.background.busy:
            shards.decline(target.parent, name, BUSY)
            return None
        failed, took_s = self.background.failure(), self.background.cpu_s if self.background.succeeded else None
        parts, values = self.taken_apart(live, target.parent, name, shards)
        parts, values = host_values(parts), host_shards(values)
        size = torch.distributed.get_world_size()
        limit_s = shards.limit_s(values) + MARGIN_S
        self.background.start(lambda: self.save_together(parts, values, target, (rank, size), name, shards), limit_s)
        if failed is not None:
            raise not_written(target, failed)
        return took_s

    def write(self, run: Path, rank: int, optimizers: Iterable[Optimizer]) -> Path:
        """Write the present state and read it again. Raises DebugTracerError where it holds a bad value, cannot be
        written, or the one before is still being written after its time."""
        self.background.finish()
        self.background.failure()  # this one tells
        target, shards = names(run / FOLDER, rank)[0], self.shards
        try:
            if not self.state.roots.sharded:
                if self.background.busy:
                    raise DebugTracerError(BUSY)
                self.save(self.finite_parts(optimizers), target, rank, {})
            elif shards is None:
                raise DebugTracerError("the weights are sharded, and nothing writes shards here")
            else:
                name = shards.begin(self.state.step)
                parts, values = self.taken_apart(optimizers, target.parent, name, shards)
                ranks = rank, torch.distributed.get_world_size()
                self.save_together(parts, values, target, ranks, name, shards)
        except (OSError, RuntimeError) as error:
            raise not_written(target, error) from None
        return target

    def finite_parts(self, optimizers: Iterable[Optimizer]) -> dict[str, Any]:
        """The present state. Raises DebugTracerError where it holds a bad value."""
        parts = self.parts(list(optimizers))
        if not all_finite(tensors((parts["models"], parts["optimizers"]))):
            raise DebugTracerError("the present state holds values that are not finite")
        return parts

    def taken_apart(
        self, optimizers: Iterable[Optimizer], folder: Path, name: str, shards: Shards
    ) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The present state without its shards, and these. Raises DebugTracerError where this rank cannot write it:
        then the others are told."""
        try:
            if self.background.busy:
                raise DebugTracerError(BUSY)
            return apart(self.finite_parts(optimizers), name)
        except DebugTracerError as error:
            shards.decline(folder, name, str(error))
            raise

    def save_together(
        self,
        parts: dict[str, Any],
        values: dict[str, Tensor],
        target: Path,
        ranks: tuple[int, int],
        name: str,
        shards: Shards,
    ) -> None:
        """Write what all ranks save, as this one of so many, whatever has become of the groups since."""
        rank, size = ranks
        files = shards.write_as(rank, size, target.parent, name, values)
        self.save(parts, target, rank, files, shards.replaced)
        shards.noted(target.parent, rank, name)

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

    def save(self, parts: dict[str, Any], target: Path, rank: int, files: dict[str, str], replaced: str = "") -> None:
        """Write under another name and read it back; its sum is known before it takes the place of the last one, which
        steps back: killed at any moment, one of the two is whole. A last one whose shards lie in the folder `replaced`
        goes instead, for not every rank has it."""
        target.parent.mkdir(parents=True, exist_ok=True)
        _, older, note = names(target.parent, rank)
        fresh = target.with_suffix(".part")
        try:
            self.put(parts, fresh)
            last = whole(target, note)
            if last is not None and replaced in {name.partition("/")[0] for name in last.files}:
                last = None
            kept = last or whole(older, note)
            told: dict[str, Any] = {key: parts[key] for key in ("format", "step", "iteration")}
            told["sha256"] = sha256(fresh)
            told |= {"files": files} if files else {}
            if kept is not None:
                told["older"] = msgspec.to_builtins(kept)
            replace(note, (json.dumps(told) + "\n").encode())
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        if last is not None:
            target.replace(older)
        fresh.replace(target)
        synced(target.parent)
        if files and rank == 0:
            stay = (*files, *(kept.files if kept is not None else ()))
            remove_all_but(target.parent, {name.partition("/")[0] for name in stay})

    def put(self, parts: dict[str, Any], fresh: Path) -> None:
        """Write one file that loads without executing anything; schedulers or scalers that do not are left out."""
        unwrap(torch.save)(parts, fresh)  # no observer takes it for a checkpoint of the program's
        if not loads(fresh):
            parts = {**parts, "schedulers": [], "scalers": []}  # an object of the user's own in their state
            unwrap(torch.save)(parts, fresh)
            if not loads(fresh):
                raise RuntimeError("the state of model or optimizer holds objects that weights_only does not read")
        synced(fresh)


def apart(parts: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The parts of a state without sharded tensors, which lie in the folder `name`, and these by name."""
    values: dict[str, Tensor] = {}
    left = dict(parts)
    for kind in ("models", "optimizers"):
        split = [without_shards(part, f"{kind}.{number}") for number, part in enumerate(parts[kind])]
        left[kind] = [part for part, _ in split]
        for _, found in split:
            values |= found
    return {**left, "shards": name}, values


def not_written(target: Path, error: Exception) -> DebugTracerError:
    """What is said of a state that could not be written."""
    if isinstance(error, RuntimeError) and CUT_OFF in str(error):
        return DebugTracerError(f"{target} could not be written (the disk is full, or a file may not be that large)")
    return DebugTracerError(f"{target} could not be written ({type(error).__name__}: {error})")


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
        unwrap(torch.load)(path, weights_only=True, map_location="cpu")
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
    for part in (*loaded["models"], *loaded["optimizers"]):
        if "shards" in part:
            part["folder"] = str(path.parent / loaded["shards"])
    return loaded
