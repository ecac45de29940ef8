"""A state is saved now and then, where nothing of a step is in flight, and training is none the worse for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.last_good import verified
from debugtracer.recorder.resume import state_keeper
from debugtracer.recorder.resume.loader_passes import LoaderPasses
from debugtracer.recorder.resume.state_keeper import StateKeeper
from debugtracer.recorder.run_state import RunState
from debugtracer.trace.store.reader import open_trace
from tests.responses.loops import a_model, actions, adam
from tests.watching import same_bits, under_watch


def trained(steps: int = 20, bad: int = -1) -> list[torch.Tensor]:
    """A loop over a loader; the state it leaves."""
    model = a_model()
    optimizer = adam(model.parameters())
    made = torch.Generator().manual_seed(5)
    data = torch.randn(steps * 6, 4, generator=made)
    if bad >= 0:
        data[bad * 6, 0] = float("nan")
    for (x,) in DataLoader(TensorDataset(data), batch_size=6):
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
        optimizer.step()
    return [t.detach().clone() for t in (*model.parameters(), *model.buffers())]


@pytest.mark.parametrize("mode", ["val", "prod"])
def test_a_healthy_run_saves_and_is_as_without_us(tmp_path: Path, mode: str) -> None:
    bare = trained()
    with under_watch(tmp_path, mode, last_good_s=1e-6, cost=1.0):
        watched = trained()
    assert all(same_bits(a, b) for a, b in zip(watched, bare, strict=True))
    assert actions(tmp_path) == []
    left = verified(open_trace(tmp_path).path / "last-good" / "rank-0.pt")
    assert 1 <= left["step"] <= 19 and left["loaders"][0]["batches"] == left["step"]


def test_modes_that_do_not_act_save_nothing(tmp_path: Path) -> None:
    with under_watch(tmp_path, "observe", last_good_s=1e-6, cost=1.0):
        trained()
    assert not (open_trace(tmp_path).path / "last-good").exists()


def test_a_minute_is_waited_for_and_0_means_never(tmp_path: Path) -> None:
    with under_watch(tmp_path / "a", "prod"):
        trained()
    with under_watch(tmp_path / "b", "prod", last_good_s=0):
        trained()
    assert not list(tmp_path.glob("*/*/last-good"))


class Fetches:
    """A loop's fetches without its loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fails: bool = False) -> None:
        self.now, self.written = 0.0, 0
        monkeypatch.setattr(state_keeper, "perf_counter", lambda: self.now)
        self.state, self.passes = RunState(), LoaderPasses()
        self.fails, self.takes_s = fails, 2.0
        self.keeper = StateKeeper(self.state, self.passes, self.write, 10.0, 0.06)
        loader = DataLoader(TensorDataset(torch.zeros(1000)), batch_size=1)
        self.passes.begins(loader)
        self.iterator: Any = iter(loader)
        self.passes.begun(loader, self.iterator)
        self.loader = loader

    def write(self) -> float:
        self.now += self.takes_s
        self.written += 1
        if self.fails:
            raise DebugTracerError("no space left")
        return 0.0

    def fetch(self, steps: int = 1, seconds: float = 11.0) -> int:
        """Train so many steps and fetch again; the states written so far."""
        self.now += seconds
        self.keeper.before_fetch(self.iterator)
        self.state.step += steps
        self.keeper.before_fetch(self.iterator)
        return self.written


def test_it_waits_as_long_as_its_cost_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    fetches = Fetches(monkeypatch)
    assert fetches.fetch() == 1
    assert fetches.fetch(seconds=100) == 1  # 2 s are a hundredth of 200
    assert fetches.fetch(seconds=101) == 2


def test_it_saves_between_two_steps_of_a_pass_that_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    fetches = Fetches(monkeypatch)
    assert fetches.fetch(steps=0) == 0  # evaluation, or a step in parts
    fetches.state.quiet_until_healthy = True
    assert fetches.fetch() == 0
    fetches.state.quiet_until_healthy = False
    assert fetches.fetch() == 1


def test_what_cannot_be_written_is_said_once_and_given_up(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fetches = Fetches(monkeypatch, fails=True)
    for _ in range(6):
        fetches.fetch(seconds=1000)
    assert fetches.written == state_keeper.TRIES
    assert capfd.readouterr().err.count("was not saved: no space left") == 1


def test_a_sixth_of_the_promised_share_is_for_saving_and_all_of_it_where_nothing_was_promised() -> None:
    def share(cost: float) -> float:
        return StateKeeper(RunState(), LoaderPasses(), lambda: None, 60.0, cost).share

    assert share(0.03) == pytest.approx(0.005)
    assert share(0.999) == pytest.approx(0.1665)
    assert share(1.0) == float("inf")
