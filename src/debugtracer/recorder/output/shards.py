"""The sharded part of a last good state: one folder in the format of torch.distributed.checkpoint, so that another
number of ranks can read it. Ranks meet in that folder alone: none waits for a process that is gone."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import torch
from torch import Tensor

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.shard_parts import compare, write_index, write_part
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.state.quiet_warnings import quiet_warnings
from debugtracer.recorder.state.sharded import is_sharded, local
from debugtracer.trace.store.saved_state import SHARDS, sha256

WAIT_S = 60.0  # seconds that a rank waits for the others beside the time that its own part may take (ours)
BYTES_S = 5e7  # bytes that a disk shared by all ranks may take of each in a second, a low guess (ours)
LOOK_S = 0.02  # seconds between two looks for what the others have left (ours)
PART, REFUSED, NOTED, REPLACED = "part-", "refused-", "noted-", "replaced"
RESTARTS = "TORCHELASTIC_RESTART_COUNT"  # set by torchrun: how often the ranks were started again in one run folder


class Shards:
    """One per process. Every rank calls `write_as` at the same steps, in the training or in a thread. Each writes its
    part and leaves a word; rank 0 makes a state of them once all are there, and gives it its name."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self.wait_s = wait_s
        self.begun: dict[str, int] = {}
        """How often a state of a name was begun: ranks that begin one again meet in another folder."""
        self.placed = ""
        """The state that rank 0 has put in place last; known there alone."""
        self.replaced = ""
        """The state that the last one replaces, for some rank has not kept it; empty where there is none."""

    def begin(self, step: int) -> str:
        """Return the name of the state of a step. Called once for each, by the training. Ranks that were started again
        never meet what those before them have left."""
        again = os.environ.get(RESTARTS, "0")
        name = f"{SHARDS}{step}{f'-restart{again}' if again != '0' else ''}"
        self.begun[name] = self.begun.get(name, 0) + 1
        return name if self.begun[name] == 1 else f"{name}-{self.begun[name]}"

    def limit_s(self, values: dict[str, Tensor]) -> float:
        """Return the seconds after which a rank that has not come is given up."""
        return self.wait_s + sum(held_bytes(local(value)) for value in values.values()) / BYTES_S

    def write_as(self, rank: int, size: int, folder: Path, name: str, values: dict[str, Tensor]) -> dict[str, str]:
        """Write, put in place and read again, as this rank of so many, whatever has become of the groups since; the
        answer: the files of this rank and their sums. Raises DebugTracerError on all ranks where it fails on one, or
        where one does not come."""
        fresh, until = folder / f"{name}.part", monotonic() + self.limit_s(values)
        try:
            with quiet_warnings():
                fresh.mkdir(parents=True, exist_ok=True)
                leave(fresh / f"{PART}{rank}", write_part(fresh, rank, values))
                if rank == 0:
                    self.put_in_place(fresh, folder / name, size, until)
                else:
                    self.wait_for(fresh, folder / name, until)
                self.replaced = read_word(folder / name / REPLACED)
                compare(folder / name, values)
        except (KeyboardInterrupt, SystemExit):
            raise
        except DebugTracerError as error:
            refuse(fresh, rank, str(error))
            raise
        except BaseException as error:  # that of torch's checkpoints is no Exception
            told = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            refuse(fresh, rank, told)
            raise DebugTracerError(told) from None
        return {f"{name}/{path.name}": sha256(path) for path in sorted((folder / name).iterdir()) if is_of(path, rank)}

    def put_in_place(self, fresh: Path, target: Path, size: int, until: float) -> None:
        """Wait for the parts of all ranks, write their index, and give the folder its name. A state before that some
        rank has not kept is replaced on all of them: what every rank has stays. Raises DebugTracerError."""
        for missing in self.waiting(fresh, until):
            names = [f"{PART}{rank}" for rank in range(size)]
            left = {entry.name for entry in os.scandir(fresh)}
            if all(name in left for name in names):
                break
            missing.extend(name.removeprefix(PART) for name in names if name not in left)
        parts = [fresh / name for name in names]
        write_index(fresh, [part.read_bytes() for part in parts])
        for part in parts:
            part.unlink()
        if self.placed and any(read_word(target.parent / f"{NOTED}{rank}") != self.placed for rank in range(size)):
            leave(fresh / REPLACED, self.placed.encode())
        shutil.rmtree(target, ignore_errors=True)
        fresh.replace(target)
        self.placed = target.name

    def wait_for(self, fresh: Path, target: Path, until: float) -> None:
        """Wait until rank 0 has put the state in place. Raises DebugTracerError."""
        for missing in self.waiting(fresh, until):
            if target.name in {entry.name for entry in os.scandir(target.parent)}:
                return
            missing.append("0")

    def waiting(self, fresh: Path, until: float) -> Iterator[list[str]]:
        """Yield while others are waited for; the list takes the ranks that have not come. Raises DebugTracerError where
        one has refused, or at the end of the time."""
        while True:
            missing: list[str] = []
            yield missing
            refused = sorted(fresh.glob(f"{REFUSED}*"))
            if refused:
                rank = refused[0].name.removeprefix(REFUSED)
                raise DebugTracerError(f"rank {rank} could not write its part ({refused[0].read_text()[:200]})")
            if monotonic() > until:
                raise DebugTracerError(f"no part came from rank {', '.join(missing)} in time")
            sleep(LOOK_S)

    def decline(self, folder: Path, name: str, why: str) -> None:
        """Tell the other ranks, where there are any, that this one writes no state here."""
        if torch.distributed.get_world_size() > 1:
            refuse(folder / f"{name}.part", torch.distributed.get_rank(), why)

    def noted(self, folder: Path, rank: int, name: str) -> None:
        """Tell rank 0 that this rank goes back to a state: the one before is needed no more."""
        leave(folder / f"{NOTED}{rank}", name.encode())


def without_shards(entry: dict[str, Any], prefix: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return a part without its sharded tensors, of which names and shapes stay, and these by their names."""
    found: dict[str, Tensor] = {}
    state = dict(entry["state"])
    if "param_groups" in state:
        state["state"] = {index: dict(kept) for index, kept in state["state"].items()}
        owners = {f"{index}.": kept for index, kept in state["state"].items()}
    else:
        owners = {"": state}
    for before, kept in owners.items():
        for name in [name for name, value in kept.items() if is_sharded(value)]:
            found[f"{prefix}.{before}{name}"] = kept.pop(name)
    told = {key.removeprefix(f"{prefix}."): list(value.shape) for key, value in found.items()}
    return {**entry, "state": state, **({"shards": told, "prefix": prefix} if told else {})}, found


def read_word(path: Path) -> str:
    """What a rank has left in a file; empty where it has said nothing."""
    try:
        return path.read_text()
    except OSError:
        return ""


def leave(path: Path, data: bytes) -> None:
    """Write a file that is there as a whole or not at all. Raises OSError."""
    hidden = path.with_name(f".{path.name}")
    hidden.write_bytes(data)
    hidden.replace(path)


def refuse(fresh: Path, rank: int, why: str) -> None:
    """Leave the word that this rank has given up, where the folder can be written."""
    try:
        fresh.mkdir(parents=True, exist_ok=True)
        leave(fresh / f"{REFUSED}{rank}", why.encode())
    except OSError:
        return


def is_of(path: Path, rank: int) -> bool:
    """Whether a file was written by this rank; the index belongs to the first."""
    return path.name.startswith(f"__{rank}_") or (rank == 0 and path.name == ".metadata")


def remove_all_but(folder: Path, kept: set[str]) -> None:
    """Remove the folders of states that nobody goes back to; one that another rank has begun since stays."""
    newest = max(map(place_of, kept), default=(0, -1))
    for path in folder.glob(f"{SHARDS}*"):
        if path.name not in kept and not (path.suffix == ".part" and place_of(path.name) > newest):
            shutil.rmtree(path, ignore_errors=True)


def place_of(name: str) -> tuple[int, int]:
    """How often the ranks had been started again, and the step of a state, by the name of its folder."""
    found = re.match(rf"{SHARDS}(\d+)(?:-restart(\d+))?", name)
    return (int(found.group(2) or 0), int(found.group(1))) if found else (0, -1)
