"""Sharded tensors are written by all ranks into one folder, read back, and known by name and shape in the rest."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output import last_good as last_good_module
from debugtracer.recorder.output.last_good import LastGood, verified
from debugtracer.recorder.output.shards import REFUSED, Shards, remove_all_but, without_shards
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
    path = LastGood(state, shards=Shards()).write(tmp_path, 0, [optimizer])
    assert sorted(p.name for p in (path.parent / "shards-7").iterdir()) == [".metadata", "__0_0.distcp"]
    other, fresh, _ = trained(mesh, 1)
    read = verified(path)
    assert fits(other, read["models"][0])
    load_model(other, read["models"][0])
    load_optimizer(fresh, read["optimizers"][0], 1.0, fresh=False)
    assert all(same_bits(a, b) for a, b in zip(parts(model, optimizer), parts(other, fresh), strict=True))


def test_a_damaged_shard_gives_way_to_the_state_before_it(mesh: Any, tmp_path: Path) -> None:
    _, optimizer, state = trained(mesh, 0)
    last_good = LastGood(state, shards=Shards())
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
        LastGood(state, shards=Shards()).write(tmp_path, 0, [optimizer])
    first: Any = next(iter(model.parameters()))
    first.to_local().data[0, 0] = float("nan")
    with pytest.raises(DebugTracerError, match="not finite"):
        LastGood(state, shards=Shards()).write(tmp_path, 0, [optimizer])


def test_plain_tensors_stay_in_the_part() -> None:
    kept = {"class": "Linear", "state": {"weight": torch.ones(2)}}
    assert without_shards(kept, "models.0") == (kept, {})


def test_folders_that_nobody_goes_back_to_are_removed(tmp_path: Path) -> None:
    for name in ("shards-1", "shards-1.part", "shards-2", "shards-2-2.part", "shards-3.part", "plain"):
        (tmp_path / name).mkdir()
    remove_all_but(tmp_path, {"shards-2"})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plain", "shards-2", "shards-3.part"]


class Slow(Shards):
    """Waits in its thread until the program has gone on."""

    def __init__(self, go: threading.Event) -> None:
        super().__init__()
        self.go = go

    def write_as(self, *words: Any) -> dict[str, str]:
        assert self.go.wait(20)
        return super().write_as(*words)


def test_what_is_written_later_is_the_state_of_now_and_none_waits_for_it(mesh: Any, tmp_path: Path) -> None:
    model, optimizer, state = trained(mesh, 0)
    state.step, go, other = 7, threading.Event(), trained(mesh, 1)
    before = [part.detach().clone() for part in parts(model, optimizer)]
    last_good = LastGood(state, shards=Slow(go))
    assert last_good.write_later(tmp_path, 0, [optimizer]) is None
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
    state.step = 8
    assert last_good.write_later(tmp_path, 0, [optimizer]) is None  # the one before is under way
    assert not list(tmp_path.glob("last-good/*.part"))  # nobody else waits for a word
    go.set()
    last_good.background.finish()
    assert last_good.background.failure() is None and newest(tmp_path)[0] == 7
    read = verified(tmp_path / "last-good" / "rank-0.pt")
    load_model(other[0], read["models"][0])
    load_optimizer(other[1], read["optimizers"][0], 1.0, fresh=False)
    assert all(same_bits(a, b) for a, b in zip(before, parts(other[0], other[1]), strict=True))
    state.step = 9
    assert last_good.write_later(tmp_path, 0, [optimizer]) is not None
    last_good.background.finish()
    assert newest(tmp_path)[0] == 9 and not list((tmp_path / "last-good").glob("*.part"))


def test_shards_that_could_not_be_written_later_leave_the_state_before(mesh: Any, tmp_path: Path) -> None:
    _, optimizer, state = trained(mesh, 0)
    last_good = LastGood(state, shards=Shards())
    state.step = 5
    last_good.write(tmp_path, 0, [optimizer])
    (tmp_path / "last-good" / "shards-6.part").write_text("a file where the folder would be")
    state.step = 6
    last_good.write_later(tmp_path, 0, [optimizer])
    last_good.background.finish()
    assert newest(tmp_path)[0] == 5
    state.step = 7
    with pytest.raises(DebugTracerError, match="could not be written"):
        last_good.write_later(tmp_path, 0, [optimizer])  # begins anew, and tells of the one before
    last_good.background.finish()
    assert newest(tmp_path)[0] == 7


def test_a_state_of_a_step_that_is_written_again_has_a_folder_of_its_own(mesh: Any, tmp_path: Path) -> None:
    _, optimizer, state = trained(mesh, 0)
    last_good, state.step = LastGood(state, shards=Shards()), 5
    for _ in range(2):
        last_good.write(tmp_path, 0, [optimizer])
    assert sorted(p.name for p in (tmp_path / "last-good").glob("shards-*")) == ["shards-5", "shards-5-2"]
    assert newest(tmp_path)[0] == 5


def test_a_rank_that_still_writes_leaves_a_word_for_the_others(
    mesh: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    Shards().decline(tmp_path, "shards-8", "it still writes the state before")
    assert [p.name for p in (tmp_path / "shards-8.part").iterdir()] == [f"{REFUSED}0"]


def test_a_rank_that_does_not_come_is_waited_for_so_long_and_no_longer(tmp_path: Path) -> None:
    begin = time.monotonic()
    with pytest.raises(DebugTracerError, match="no part came from rank 1, 2 in time"):
        Shards(wait_s=0.3).write_as(0, 3, tmp_path, "shards-4", {})
    with pytest.raises(DebugTracerError, match="rank 0 could not write its part"):
        Shards(wait_s=30.0).write_as(1, 3, tmp_path, "shards-4", {})  # which is told at once
    assert time.monotonic() - begin < 10 and not (tmp_path / "shards-4").exists()


@pytest.mark.parametrize("kept", ["shards-2", "shards-3"])
def test_a_state_that_some_rank_has_not_kept_is_replaced_by_the_next(mesh: Any, tmp_path: Path, kept: str) -> None:
    first = Shards(wait_s=5.0)
    first.write_as(0, 1, tmp_path, "shards-3", {})
    assert (first.placed, first.replaced) == ("shards-3", "")
    first.noted(tmp_path, 0, kept)
    first.write_as(0, 1, tmp_path, "shards-4", {})
    assert (first.placed, first.replaced) == ("shards-4", "" if kept == "shards-3" else "shards-3")


def test_ranks_that_were_started_again_meet_in_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "0")
    assert [Shards().begin(7), Shards().begin(7)] == ["shards-7", "shards-7"]
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "2")
    again = Shards()
    begun = [again.begin(step) for step in (7, 7, 8)]
    assert begun == ["shards-7-restart2", "shards-7-restart2-2", "shards-8-restart2"]
    for name in ("shards-9.part", "shards-7-restart2", "shards-8-restart2.part"):
        (tmp_path / name).mkdir()
    remove_all_but(tmp_path, {"shards-7-restart2"})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["shards-7-restart2", "shards-8-restart2.part"]


def test_a_state_that_is_still_written_after_its_time_lets_no_other_begin(
    mesh: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, optimizer, state = trained(mesh, 0)
    monkeypatch.setattr(last_good_module, "MARGIN_S", -60.0)
    go = threading.Event()
    last_good = LastGood(state, shards=Slow(go))
    last_good.write_later(tmp_path, 0, [optimizer])
    with pytest.raises(DebugTracerError, match="still being written"):
        last_good.write(tmp_path, 0, [optimizer])
    go.set()
    assert last_good.background.thread is not None
    last_good.background.thread.join()
    assert last_good.write(tmp_path, 0, [optimizer]).exists()
