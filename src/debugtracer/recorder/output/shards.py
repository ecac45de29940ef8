"""The sharded part of a last good state: one folder of torch.distributed.checkpoint that all ranks write together, so
that another number of ranks can read it."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.gate.rank_vote import PATIENCE_S, WORK_S, RankVote
from debugtracer.recorder.run_state import several_ranks
from debugtracer.recorder.state.quiet_warnings import quiet_warnings
from debugtracer.recorder.state.sharded import is_sharded, local
from debugtracer.trace.store.saved_state import SHARDS, sha256


class Shards:
    """One per process. Every rank calls `write` at the same step; each thing that may fail on one of them is voted on,
    so that none waits in a collective for a rank that gave up."""

    def __init__(self, vote: RankVote) -> None:
        self.vote = vote
        self.group: Any = None
        """Our own: a collective in the program's groups could hang a failing job."""

    def write(self, folder: Path, step: int, values: dict[str, Tensor]) -> dict[str, str]:
        """Write, read again and put in place; the answer: the files of this rank and their sums. Raises
        DebugTracerError on all ranks where it fails on one."""
        name = f"{SHARDS}{step}"
        fresh, rank = folder / f"{name}.part", torch.distributed.get_rank()
        self.together(step, "begin", lambda: fresh.mkdir(parents=True, exist_ok=True))
        if self.group is None and several_ranks():
            patience = datetime.timedelta(seconds=WORK_S)
            self.group = torch.distributed.new_group(backend="gloo", timeout=patience)
        self.together(step, "write", lambda: save(fresh, values, self.group))
        self.together(step, "read", lambda: compare(fresh, values))
        self.together(step, "place", lambda: put_in_place(fresh, folder / name) if rank == 0 else None)
        mine = [path for path in sorted((folder / name).iterdir()) if is_of(path, rank)]
        return {f"{name}/{path.name}": sha256(path) for path in mine}

    def together(self, step: int, what: str, do: Callable[[], None]) -> None:
        """Do one thing on every rank. Raises DebugTracerError on all where one of them could not, or did not come."""
        failed = ""
        try:
            with quiet_warnings():
                do()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # that of torch's checkpoints is no Exception
            failed = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        answer = self.asked(f"{step}/{what}", bool(failed), WORK_S)
        if answer is None:
            raise DebugTracerError(failed or self.vote.off)
        if answer[0]:
            raise DebugTracerError(failed or f"another rank could not {what} its part")

    def agree(self, step: int, good: bool) -> None:
        """Raise DebugTracerError on all ranks where the state of one of them holds a bad value."""
        answer = self.asked(f"{step}/finite", not good, PATIENCE_S)
        if answer is None:
            raise DebugTracerError(self.vote.off)
        if answer[0]:
            raise DebugTracerError("the present state holds values that are not finite")

    def asked(self, what: str, failed: bool, patience_s: float) -> tuple[int, ...] | None:
        """How many ranks have failed at something; None where not all have answered."""
        if not several_ranks():
            return (int(failed),)
        return self.vote.ask_at(f"state/{what}", (failed,), patience_s)


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


def save(folder: Path, values: dict[str, Tensor], group: Any) -> None:
    """Write the parts of all ranks, and their index last."""
    from torch.distributed.checkpoint.filesystem import FileSystemWriter
    from torch.distributed.checkpoint.state_dict_saver import save as save_together

    plain = {key: value.detach() for key, value in values.items()}
    writer = FileSystemWriter(folder, single_file_per_rank=True)
    save_together(plain, storage_writer=writer, process_group=group, no_dist=group is None)


def load(folder: Path, values: dict[str, Tensor]) -> None:
    """Read what belongs to this rank into these tensors, whatever the number of ranks that wrote it; no other rank is
    needed."""
    from torch.distributed.checkpoint.filesystem import FileSystemReader
    from torch.distributed.checkpoint.state_dict_loader import load as load_alone

    with quiet_warnings():  # that this process reads alone, which is meant
        load_alone(dict(values), storage_reader=FileSystemReader(folder), no_dist=True)


def compare(folder: Path, values: dict[str, Tensor]) -> None:
    """Read what was written, and compare it bit by bit. Raises RuntimeError where it differs."""
    read = {key: torch.empty_like(value.detach()) for key, value in values.items()}
    load(folder, read)
    for key, value in values.items():
        if not torch.equal(local(read[key]), local(value.detach())):
            raise RuntimeError(f"{key} is not what was written")


def put_in_place(fresh: Path, target: Path) -> None:
    """Give a folder that is whole its name; one of a run before that had it is replaced."""
    shutil.rmtree(target, ignore_errors=True)
    fresh.replace(target)


def is_of(path: Path, rank: int) -> bool:
    """Whether a file was written by this rank; the index belongs to the first."""
    return path.name.startswith(f"__{rank}_") or (rank == 0 and path.name == ".metadata")


def remove_all_but(folder: Path, kept: set[str]) -> None:
    """Remove the folders of states that nobody goes back to."""
    for path in folder.glob(f"{SHARDS}*"):
        if path.name not in kept:
            shutil.rmtree(path, ignore_errors=True)
