"""What one rank writes of a state of shards, in the format of torch.distributed.checkpoint and without a word to the
other ranks; and the index that makes one state of all parts."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from debugtracer.recorder.state.quiet_warnings import quiet_warnings
from debugtracer.recorder.state.sharded import local


def host_shards(values: dict[str, Tensor]) -> dict[str, Tensor]:
    """Copy sharded tensors to memory of the host, each the part of this rank; no rank waits for another."""
    return {key: value.detach().to("cpu", copy=True) for key, value in values.items()}


def write_part(folder: Path, rank: int, values: dict[str, Tensor]) -> bytes:
    """Write the values of this rank; the answer is what the index needs to know of them."""
    from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
    from torch.distributed.checkpoint.filesystem import FileSystemWriter

    planner, writer = DefaultSavePlanner(), FileSystemWriter(folder, single_file_per_rank=True)
    planner.set_up_planner({key: value.detach() for key, value in values.items()}, None, rank == 0)
    writer.set_up_storage_writer(rank == 0)
    plan = writer.prepare_local_plan(planner.create_local_plan())
    plan = writer.prepare_global_plan([plan] * (rank + 1))[rank]  # which names the files by the rank
    planner.finish_plan(plan)
    done = writer.write_data(plan, planner)
    done.wait()
    return pickle.dumps((plan, done.value()))


def write_index(folder: Path, parts: Iterable[bytes]) -> None:
    """Write the index of a state from what its ranks have told, in their order. They are processes of one program, and
    torch's own index is read the same way."""
    from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
    from torch.distributed.checkpoint.filesystem import FileSystemWriter

    told = [pickle.loads(part) for part in parts]
    writer = FileSystemWriter(folder, single_file_per_rank=True)
    writer.set_up_storage_writer(True)
    planner = DefaultSavePlanner()
    planner.set_up_planner({}, None, True)
    _, metadata = planner.create_global_plan([plan for plan, _ in told])
    writer.finish(metadata, [results for _, results in told])


def load(folder: Path, values: dict[str, Tensor]) -> None:
    """Read what belongs to this rank into these tensors, whatever the number of ranks that wrote it; no other rank is
    needed."""
    from torch.distributed.checkpoint.filesystem import FileSystemReader
    from torch.distributed.checkpoint.state_dict_loader import load as load_alone

    with quiet_warnings():  # that this process reads alone, which is meant
        load_alone(dict(values), storage_reader=FileSystemReader(folder), no_dist=True)


def compare(folder: Path, values: dict[str, Tensor]) -> None:
    """Read what was written, and compare it bit by bit. Raises RuntimeError where it differs."""
    read: dict[str, Any] = {key: torch.empty_like(value.detach()) for key, value in values.items()}
    load(folder, read)
    for key, value in values.items():
        if not torch.equal(local(read[key]), local(value.detach())):
            raise RuntimeError(f"{key} is not what was written")
