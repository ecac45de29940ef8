"""Sharded tensors are written by all ranks into one folder, read back, and known by name and shape in the rest."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.gate.rank_vote import RankVote
from debugtracer.recorder.output.last_good import LastGood, verified
from debugtracer.recorder.output.shards import Shards, remove_all_but, without_shards
from debugtracer.recorder.resume.loaded_parts import fits, load_model, load_optimizer
from debugtracer.recorder.run_state import RunState
from debugtracer.trace.store.saved_state import newest
from tests.watching import same_bits


@pytest.fixture
def mesh() -> Iterator[Any]:
    """One rank, which is enough for tensors that could be in parts. Ranks: responses/test_sharded_ranks.py."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    torch.distributed.init_process_group("gloo", init_method=address, rank=0, world_size=1)
    yield torch.distributed.init_device_mesh("cpu", (1,))
    torch.distributed.destroy_process_group()


def trained(mesh: Any, seed: int) -> tuple[nn.Module, torch.optim.Optimizer, RunState]:
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
    state = RunState()
    state.roots.add(model, None)
    return model, optimizer, state


def parts(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[Tensor]:
    moments = [v for kept in optimizer.state.values() for v in kept.values()]
    found: list[Any] = [*model.parameters(), *model.buffers(), *moments]
    return [t.to_local() if hasattr(t, "to_local") else t for t in found]


def test_a_state_comes_back_bit_by_bit(mesh: Any, tmp_path: Path) -> None:
    model, optimizer, state = trained(mesh, 0)
    state.step = 7
    path = LastGood(state, shards=Shards(RankVote())).write(tmp_path, 0, [optimizer])
    assert sorted(p.name for p in (path.parent / "shards-7").iterdir()) == [".metadata", "__0_0.distcp"]
    other, fresh, _ = trained(mesh, 1)
    read = verified(path)
    assert fits(other, read["models"][0])
    load_model(other, read["models"][0])
    load_optimizer(fresh, read["optimizers"][0], 1.0, fresh=False)
    assert all(same_bits(a, b) for a, b in zip(parts(model, optimizer), parts(other, fresh), strict=True))


def test_a_damaged_shard_gives_way_to_the_state_before_it(mesh: Any, tmp_path: Path) -> None:
    _, optimizer, state = trained(mesh, 0)
    last_good = LastGood(state, shards=Shards(RankVote()))
    for step in (5, 6, 7):
        state.step = step
        last_good.write(tmp_path, 0, [optimizer])
    folder = tmp_path / "last-good"
    assert sorted(p.name for p in folder.glob("shards-*")) == ["shards-6", "shards-7"]
    assert newest(tmp_path)[0] == 7
    (folder / "shards-7" / "__0_0.distcp").write_bytes(b"cut")
    step, _, problems = newest(tmp_path)
    assert step == 6 and "is damaged" in problems[0]


def test_a_bad_value_or_a_folder_in_the_way_is_said(mesh: Any, tmp_path: Path) -> None:
    model, optimizer, state = trained(mesh, 0)
    (tmp_path / "last-good").write_text("a file where the folder would be")
    with pytest.raises(DebugTracerError, match="Error: "):
        LastGood(state, shards=Shards(RankVote())).write(tmp_path, 0, [optimizer])
    first: Any = next(iter(model.parameters()))
    first.to_local().data[0, 0] = float("nan")
    with pytest.raises(DebugTracerError, match="not finite"):
        LastGood(state, shards=Shards(RankVote())).write(tmp_path, 0, [optimizer])


def test_plain_tensors_stay_in_the_part() -> None:
    kept = {"class": "Linear", "state": {"weight": torch.ones(2)}}
    assert without_shards(kept, "models.0") == (kept, {})


def test_folders_that_nobody_goes_back_to_are_removed(tmp_path: Path) -> None:
    for name in ("shards-1", "shards-2", "plain"):
        (tmp_path / name).mkdir()
    remove_all_but(tmp_path, {"shards-2"})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plain", "shards-2"]
