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


def test_a_state_is_not_due_before_its_time_and_is_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fetches = Fetches(monkeypatch)
    assert fetches.fetch(seconds=9.999) == 0
    fetches.now = 10.0
    assert fetches.fetch(seconds=0.0) == 1


def test_a_fetch_of_the_same_pass_at_the_same_step_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fetches = Fetches(monkeypatch)
    keeper, other = fetches.keeper, iter(DataLoader(TensorDataset(torch.zeros(4))))
    fetches.now = 11.0
    fetches.state.step = 1
    assert keeper.before_fetch(fetches.iterator) is False
    assert (keeper.step, keeper.last() is fetches.iterator, fetches.written) == (1, True, 0)
    keeper.before_fetch(other)
    assert (keeper.last() is other, fetches.written) == (True, 0), "it was not fetched from before this step"
    keeper.before_fetch(fetches.iterator)
    assert fetches.written == 0, "nothing was trained on since"
    fetches.state.step = 2
    keeper.before_fetch(fetches.iterator)
    assert fetches.written == 1


def test_a_first_state_that_would_cost_too_much_is_put_off_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fetches = Fetches(monkeypatch)
    weight = torch.zeros(250_000, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    fetches.state.optimizers[optimizer] = None  # type: ignore[index]
    assert state_keeper.held_bytes(fetches.state) == 3 * 1_000_000
    monkeypatch.setattr(state_keeper, "BYTES_S", 3_000_000 / 0.2)
    assert fetches.fetch() == 0, "0.2 s are a hundredth of 20"
    assert fetches.keeper.due_s == pytest.approx(11.0 + 20.0)
    assert fetches.fetch(seconds=20.001) == 0, "the first fetch that is due tells from where on it was trained"
    assert fetches.fetch(seconds=0.0) == 1


def test_what_saving_costs_beside_training_counts_and_fewer_seconds_are_no_reason_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeper = Fetches(monkeypatch).keeper
    assert keeper.postpone(0.09) is False
    assert keeper.due_s == 10.0
    assert keeper.postpone(0.2) is True
    assert keeper.due_s == pytest.approx(20.0)


def test_ranks_save_once_in_each_thousand_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_keeper, "several_ranks", lambda: True)
    fetches = Fetches(monkeypatch)
    fetches.takes_s = 0.0
    saved = []
    for step in (1, 998, 1000, 1001, 1999, 2000, 2001, 4500):
        before, fetches.state.step = fetches.written, step - 1
        fetches.keeper.before_fetch(fetches.iterator)
        fetches.fetch()
        saved += [step] if fetches.written > before else []
    assert saved == [1000, 2000, 4500]


def test_a_new_run_begins_with_nothing_saved_and_nothing_that_failed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fetches = Fetches(monkeypatch, fails=True)
    for _ in range(6):
        fetches.fetch(seconds=1000)
    keeper = fetches.keeper
    keeper.reset()
    assert (keeper.step, keeper.saved_step, keeper.failed, keeper.estimated, keeper.told) == (0, 0, 0, False, False)
    assert (keeper.due_s, keeper.last()) == (fetches.now + 10.0, None)
    fetches.fails = False
    assert fetches.fetch(seconds=1000) == 4
