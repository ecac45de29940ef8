"""A roll-back takes the fault out of the weights: by one update, or to a snapshot that holds everything."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.recorder.state.snapshot_ring import EVERY
from debugtracer.recorder.state.step_history import Snapshot
from debugtracer.trace.events import Found, Observed
from debugtracer.trace.facts.undone_update import UndoneUpdate
from tests.responses.loops import OPTIMIZERS, Loop, actions, given
from tests.watching import events, same_bits, under_watch


class Full:
    """BatchNorm, dropout, a schedule, and the generator that dropout draws from."""

    def __init__(self, name: str) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 1))
        self.optimizer = OPTIMIZERS[name](self.model.parameters())
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 40)

    def go(self, batches: list[Tensor]) -> None:
        for x in batches:
            self.optimizer.zero_grad()
            self.model(x).square().mean().backward()
            self.optimizer.step()
            self.schedule.step()

    def state(self) -> list[Any]:
        moments = [v for s in self.optimizer.state.values() for v in s.values()]
        tensors = [t.detach().clone() for t in (*self.model.parameters(), *self.model.buffers(), *moments)]
        return [*tensors, torch.get_rng_state(), self.schedule.last_epoch, self.optimizer.param_groups[0]["lr"]]


def same(a: list[Any], b: list[Any]) -> bool:
    return all(same_bits(x, y) if isinstance(x, Tensor) else x == y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_snapshot_puts_everything_back_to_the_bit(tmp_path: Path, name: str) -> None:
    with under_watch(tmp_path, "prod") as session:
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        loop = Full(name)
        batches = given(30, ())
        at: dict[int, list[Any]] = {0: loop.state()}
        for number, x in enumerate(batches):
            loop.go([x])
            at[number + 1] = loop.state()
        snapshot = session.ring.newest_good(0)
        assert isinstance(snapshot, Snapshot)
        with session.hooks.disabled():
            snapshot.go_back(generators=True)
        assert snapshot.step == 25
        back = loop.state()
        # the schedule is stepped after the snapshot is taken: it stands where it stood when the update was over
        assert same(back[:-2], at[snapshot.step][:-2])
        assert loop.schedule.last_epoch == snapshot.step - 1


def test_moments_that_went_bad_are_answered_by_an_older_state(tmp_path: Path) -> None:
    batches = given(40, ())
    with under_watch(tmp_path, "prod"):
        loop = Loop()
        loop.go(batches[:20])
        next(iter(loop.optimizer.state.values()))["exp_avg"].fill_(float("nan"))
        loop.go(batches[20:])
    (done,) = actions(tmp_path)
    assert done.action == "roll-back"
    assert "was put back (weights, optimizer, scheduler, scaler, buffers)" in done.reason
    assert all(bool(torch.isfinite(t).all()) for t in loop.state())


def test_an_update_that_spoils_the_weights_is_taken_back(tmp_path: Path) -> None:
    class Spoils(torch.optim.SGD):
        bad = False

        def step(self, closure: Any = None) -> Any:
            super().step()
            if self.bad:
                self.param_groups[0]["params"][0].data[0] = float("nan")

    batches = given(12, ())
    with under_watch(tmp_path, "prod"):
        loop = Loop(lambda p: Spoils(p, lr=0.1))
        loop.go(batches[:2])
        before = loop.state()
        loop.optimizer.bad = True  # type: ignore[attr-defined]
        loop.go(batches[2:3])
        assert all(same_bits(a, b) for a, b in zip(loop.state(), before, strict=True))
        loop.optimizer.bad = False  # type: ignore[attr-defined]
        loop.go(batches[3:])
    (done,) = actions(tmp_path)
    assert (done.action, done.step) == ("roll-back", 2)
    assert "the update was taken back" in done.reason
    undone = [e.fact for e in events(tmp_path) if isinstance(e, Observed) and e.word == UndoneUpdate.word()]
    assert undone and not any(fact.get("back") for fact in undone)  # by us, and not by the program


@pytest.mark.parametrize("bad", [20, 27])
def test_numbers_that_are_read_late_are_answered_at_the_next_gate(tmp_path: Path, bad: int) -> None:
    """As on an accelerator in mode prod: the update is written before its numbers are known."""
    with under_watch(tmp_path, "prod", gate="late") as session:
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        loop = Loop()
        loop.go(given(40, (bad,)))
    (done,) = actions(tmp_path)
    assert (done.action, done.step) == ("roll-back", bad + 1)
    assert all(bool(torch.isfinite(t).all()) for t in loop.state())


class Diverging:
    """A loop whose learning rate is far too high for three steps; its weights stay finite, its loss does not."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        layers = [nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)]
        self.model = nn.Sequential(*layers)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02)
        self.losses: list[float] = []

    def go(self, jumps: bool) -> None:
        made = torch.Generator().manual_seed(3)
        for step in range(200):
            x = torch.randn(16, 4, generator=made)
            self.optimizer.param_groups[0]["lr"] = 30.0 if jumps and 60 <= step < 63 else 0.02
            self.optimizer.zero_grad()
            loss = (self.model(x) - x.sum(1, keepdim=True)).square().mean()
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())


def test_weights_that_trials_blame_are_put_back_and_trained_more_slowly(tmp_path: Path) -> None:
    loop, healthy = Diverging(), Diverging()
    with under_watch(tmp_path, "prod", cost=1.0) as session:
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        loop.go(jumps=True)
    healthy.go(jumps=False)
    (done,) = actions(tmp_path)
    assert done.action == "roll-back" and done.step == 63
    assert "the learning rate, which has risen to 30 since, is held at 0.02, the largest before" in done.reason
    assert "updates before it are to blame" in done.reason  # why skipping was refused
    assert sum(loop.losses[-40:]) < 2 * sum(healthy.losses[-40:])
    assert loop.optimizer.param_groups[0]["lr"] == 0.02


def test_a_loss_that_had_left_its_level_blames_the_weights_where_no_trial_had_the_time(tmp_path: Path) -> None:
    loop = Diverging()
    with under_watch(tmp_path, "prod", cost=1.0, trials_s=0.001) as session:
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        loop.go(jumps=True)
    (done,) = actions(tmp_path)
    assert done.action == "roll-back" and loop.optimizer.param_groups[0]["lr"] == 0.02
    said = [event.finding.message for event in events(tmp_path) if isinstance(event, Found)]
    assert not [text for text in said if "batches are to blame" in text]  # they came back by our roll-back


def test_a_slow_divergence_is_left_behind_by_a_snapshot_of_long_ago(tmp_path: Path) -> None:
    """The three newest are of weights that were ruined by then: 24 steps are not enough."""
    made = torch.Generator().manual_seed(3)
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses: list[float] = []
    with under_watch(tmp_path, "prod", cost=1.0) as session:
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        for step in range(420):
            too_fast = step >= 100 and all(map(math.isfinite, losses))
            optimizer.param_groups[0]["lr"] = 2.2 if too_fast else 0.05
            x = torch.randn(64, 4, generator=made)
            optimizer.zero_grad()
            loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    first = actions(tmp_path)[0]
    assert first.action == "roll-back"
    assert first.step > 100 + 3 * EVERY, "it took longer than the newest snapshots reach"
    (back,) = re.findall(r"the state of step (\d+) was put back", first.reason)
    assert int(back) <= 105
    assert losses[-1] < 1.0


def test_averages_of_the_weights_go_back_with_them(tmp_path: Path) -> None:
    """The weights break; an average that goes on from what it was then is NaN for ever."""
    import copy

    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    with under_watch(tmp_path, "prod", cost=1.0):
        loop = Loop(OPTIMIZERS["sgd"])
        ema = AveragedModel(loop.model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
        by_hand = copy.deepcopy(loop.model).requires_grad_(False)
        by_hand(given(1, ())[0])  # known from its first call: a snapshot of before does not hold it
        for number, x in enumerate(given(60, ())):
            if number == 40:
                list(loop.optimizer.state.values())[-1]["momentum_buffer"].fill_(1e30)
            loop.go([x])
            ema.update_parameters(loop.model)
            with torch.no_grad():
                for a, b in zip(by_hand.parameters(), loop.model.parameters(), strict=True):
                    a.lerp_(b, 0.1)
                by_hand(x)
    assert "roll-back" in [a.action for a in actions(tmp_path)]
    averaged = (*ema.parameters(), *by_hand.parameters())
    assert all(float(t.detach().abs().max()) < 100 for t in averaged)


class ByHand:
    """An average of the weights in a dict, as people write it: a new tensor at each step, or in place, or in a list."""

    def __init__(self, model: nn.Module, how: str) -> None:
        self.model, self.how = model, how
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.listed = [p.detach().clone() for p in model.parameters()]

    @torch.no_grad()
    def update(self) -> None:
        for at, (name, p) in enumerate(self.model.named_parameters()):
            if self.how == "new":
                self.shadow[name] = 0.9 * self.shadow[name] + 0.1 * p
            elif self.how == "in place":
                self.shadow[name].mul_(0.9).add_(p, alpha=0.1)
            else:
                self.listed[at] = torch.lerp(self.listed[at], p, 0.1)

    def state(self) -> list[Tensor]:
        return [t.detach().clone() for t in (*self.shadow.values(), *self.listed)]


@pytest.mark.parametrize("how", ["new", "in place", "listed"])
def test_averages_in_dicts_and_lists_go_back_to_the_bit(tmp_path: Path, how: str) -> None:
    with under_watch(tmp_path, "prod") as session:
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        loop = Loop()
        ema = ByHand(loop.model, how)
        at: dict[int, list[Tensor]] = {0: ema.state()}
        for number, x in enumerate(given(30, ())):
            loop.go([x])
            ema.update()
            at[number + 1] = ema.state()
        assert not same(at[25], at[30])
        snapshot = session.ring.newest_good(0)
        assert isinstance(snapshot, Snapshot)
        with session.hooks.disabled():
            snapshot.go_back()
    assert snapshot.step == 25
    assert same(ema.state(), at[24])  # it is taken in the optimizer's step: what the loop averages after it comes next
