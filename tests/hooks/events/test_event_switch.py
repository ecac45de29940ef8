"""Which of the two doors a call goes through: at rest only between whole steps, at work at once where something new
comes."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.hooks.events.built_lines import WHOLE
from debugtracer.hooks.events.event_switch import EventSwitch
from debugtracer.hooks.events.loop_events import LoopEvents, RestableEvents
from debugtracer.hooks.events.step_events import StepEvents
from debugtracer.recorder.governor import FIRST_STEPS
from debugtracer.session import Session
from debugtracer.trace.events import Found
from debugtracer.trace.store.reader import open_trace
from tests.watching import events, incidents, under_watch

RESTS = {"cost": 0.0, "inspect_steps": 0}


EVERY = {
    name
    for kind in (RestableEvents, LoopEvents)
    for name, value in vars(kind).items()
    if callable(value) and not name.startswith("_")
}


def test_every_event_of_the_hooks_is_handed_on() -> None:
    assert vars(StepEvents).keys() >= EVERY - {"rests", "takes_loss"}, "it never rests"
    assert vars(EventSwitch).keys() >= EVERY


class Loop:
    """A loop that rests from the first step that counts."""

    def __init__(self, session: Session) -> None:
        torch.manual_seed(0)
        self.session = session
        self.model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def go(self, steps: int) -> None:
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.model(torch.randn(8, 4)).square().mean().backward()
            self.optimizer.step()

    def to_rest(self) -> None:
        self.go(FIRST_STEPS)
        self.session.state.own_s += 100.0
        self.go(3)
        assert self.at_rest()

    def at_rest(self) -> bool:
        return self.session.events.target is self.session.events.resting


def test_a_new_optimizer_is_seen_whole(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.to_rest()
        other = torch.optim.SGD(loop.model.parameters(), lr=0.1)
        assert not loop.at_rest()
        loop.go(2)
        assert loop.at_rest()
        other.step()  # its first, while all rests
        assert other in session.gate.known
        loop.go(2)
        assert loop.at_rest()


def test_what_a_line_builds_again_and_again_is_not_seen_whole_for_ever(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.to_rest()
        woken = 0
        for _ in range(2 * WHOLE):
            loop.optimizer = torch.optim.Adam(loop.model.parameters(), lr=0.01)
            woken += not loop.at_rest()
            loop.go(2)
            assert loop.at_rest()
        assert woken == WHOLE
        step = session.state.step
        torch.optim.Adam(loop.model.parameters(), lr=0.01)
        assert not loop.at_rest(), "another line"
    assert len(open_trace(tmp_path).series("loss")[0]) == step


def test_a_program_that_scales_its_losses_is_seen_whole_first(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.to_rest()
        torch.amp.GradScaler("cpu").scale(torch.ones(()))
        assert not loop.at_rest()
        loop.go(2)
        assert loop.at_rest()


def test_it_never_changes_sides_inside_a_root_call(tmp_path: Path) -> None:
    class Whole(nn.Module):
        """Trains in its own forward."""

        def __init__(self, loop: Loop) -> None:
            super().__init__()
            self.loop = [loop]

        def forward(self) -> None:
            self.loop[0].go(4)

    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.go(FIRST_STEPS)
        session.state.own_s += 100.0
        Whole(loop)()
        assert not loop.at_rest()
        loop.go(1)
        assert loop.at_rest()


def test_a_closure_of_torch_s_own_optimizers_runs_at_rest(tmp_path: Path) -> None:
    """As Lightning calls every step."""
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.to_rest()
        before, given = session.state.step, []

        def closure() -> torch.Tensor:
            loop.optimizer.zero_grad()
            loss = loop.model(torch.randn(8, 4)).square().mean()
            loss.backward()
            given.append(loss.item())
            return loss

        returned = [loop.optimizer.step(closure) for _ in range(5)]
        assert loop.at_rest()
        assert session.state.step == before + 5
    assert [float(loss) for loss in returned] == given
    steps, losses = open_trace(tmp_path).series("loss")
    assert list(losses)[-5:] == pytest.approx(given)
    assert list(steps)[-5:] == list(range(before, before + 5))


class Search(Loop):
    """Its optimizer calls the loss three times a step."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
        self.optimizer = torch.optim.LBFGS(  # type: ignore[assignment]
            self.model.parameters(), lr=0.01, max_iter=3, tolerance_grad=0, tolerance_change=0
        )
        self.rows, self.calls, self.bad_call = torch.randn(8, 4), 0, -1
        self.given: list[float] = []

    def closure(self) -> torch.Tensor:
        self.optimizer.zero_grad()
        self.calls += 1
        divisor = float(self.calls != self.bad_call)
        loss = self.model(self.rows).square().mean() / torch.tensor(divisor)
        loss.backward()
        self.given.append(loss.item())
        return loss

    def go(self, steps: int) -> None:
        for _ in range(steps):
            self.optimizer.step(self.closure)


def test_an_optimizer_that_calls_its_loss_itself_rests(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Search(session)
        loop.to_rest()
        before, first = session.state.step, session.state.iteration
        loop.go(5)
        assert loop.at_rest()
        assert session.state.step == before + 5
        assert session.state.iteration == first + 15
    steps, losses = open_trace(tmp_path).series("loss")
    assert list(losses)[-5:] == pytest.approx(loop.given[2::3][-5:])
    assert list(steps)[-5:] == list(range(before, before + 5))
    assert len(open_trace(tmp_path).series("grad_l2")[0]) == before + 5


@pytest.mark.parametrize("call", [1, 2, 3])
def test_a_bad_loss_of_one_call_wakes_it_before_its_gradients_are_used(tmp_path: Path, call: int) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Search(session)
        loop.to_rest()
        step, loop.bad_call = session.state.step, loop.calls + call
        number = session.state.iteration + call - 1
        loop.go(1)
        assert not loop.at_rest()
        assert session.state.step == step + 1
    (incident,) = incidents(tmp_path)
    assert incident.verdict is not None and incident.verdict.symptom == "nan_loss"
    assert incident.trace_id.endswith(f"-{number}")


def test_bad_gradients_of_one_call_are_judged_by_the_gate(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Search(session)
        loop.to_rest()
        step, bad = session.state.step, loop.calls + 2

        def spoil(grad: torch.Tensor) -> torch.Tensor:
            return grad * (float("inf") if loop.calls == bad else 1.0)

        handle = next(loop.model.parameters()).register_hook(spoil)
        loop.go(1)
        handle.remove()
        assert session.state.step == step + 1
    (incident,) = incidents(tmp_path)
    assert incident.verdict is not None and incident.verdict.symptom == "inf_grad"
    assert incident.verdict.step == step


class Scaled(Loop):
    """Its losses go through a GradScaler."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=10**6)
        self.given: list[float] = []
        self.divisor = 1.0

    def go(self, steps: int) -> None:
        for _ in range(steps):
            self.optimizer.zero_grad()
            loss = self.model(torch.randn(8, 4)).square().mean() / torch.tensor(self.divisor)
            self.scaler.scale(loss).backward()
            self.scaler.unscale_(self.optimizer)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.given.append(loss.item())


def test_a_program_that_scales_its_losses_rests(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Scaled(session)
        loop.to_rest()
        before = session.state.step
        loop.go(20)
        assert loop.at_rest()
        assert session.state.step == before + 20
        assert session.state.skipped == 0
    steps, losses = open_trace(tmp_path).series("loss")
    assert list(losses) == pytest.approx(loop.given), "of the loss itself, not of the scaled one"
    assert list(steps) == list(range(before + 20))
    assert not [e for e in events(tmp_path) if isinstance(e, Found)]


@pytest.mark.parametrize("kind", [Search, Scaled])
def test_the_same_training_where_steps_rest(tmp_path: Path, kind: type[Search | Scaled]) -> None:
    losses = []
    for name in ("bare", "watched"):
        with under_watch(tmp_path / name, **RESTS) as session:
            loop = kind(session)
            with session.hooks.disabled() if name == "bare" else nullcontext():
                loop.go(FIRST_STEPS)
                session.state.own_s += 100.0
                loop.go(20)
            assert loop.at_rest() == (name == "watched")
            losses.append(loop.given)
    assert losses[0] == losses[1]


def test_a_bad_loss_under_a_scaler_at_rest_is_an_incident_and_a_skipped_update(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Scaled(session)
        loop.to_rest()
        number, loop.divisor = session.state.iteration, 0.0
        loop.go(1)
        assert not loop.at_rest()
        assert session.state.skipped == 1
        assert all(torch.isfinite(p).all() for p in loop.model.parameters())
    (incident,) = incidents(tmp_path)
    assert incident.verdict is not None and incident.verdict.symptom == "nan_loss"
    assert incident.trace_id.endswith(f"-{number}")


def test_a_scaler_that_skips_at_rest_is_counted(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Scaled(session)
        loop.to_rest()
        session.state.own_s += 100.0
        step = session.state.step
        handle = next(loop.model.parameters()).register_hook(lambda grad: grad * float("inf"))
        loop.go(1)
        handle.remove()
        assert session.state.skipped == 1
        assert session.state.step == step + 1


def test_an_optimizer_may_step_inside_a_backward(tmp_path: Path) -> None:
    """One for each parameter, called by its hook."""
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        each = {p: torch.optim.SGD([p], lr=0.01) for p in loop.model.parameters()}

        def write(parameter: torch.Tensor) -> None:
            each[parameter].step()
            each[parameter].zero_grad()

        hooks = [parameter.register_post_accumulate_grad_hook(write) for parameter in each]
        for step in range(60):
            if session.state.step > FIRST_STEPS and step % 7 == 0:
                session.state.own_s += 20.0
            if step % 11 == 0:
                session.governor.reset()
            loop.model(torch.randn(8, 4)).square().mean().backward()
        assert session.state.step == 60 * len(each)
        assert session.stack.off == 0
    for hook in hooks:  # a cycle through them, which is not collected, keeps these optimizers for the next test
        hook.remove()


def test_a_crash_and_the_end_are_told_to_every_observer(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.to_rest()
        for event in ("crashed", "ended", "incident", "restored", "loader_iterated", "optimizer_built", "missed"):
            assert session.dispatcher.at_rest[event] == session.dispatcher.listeners[event], event
        assert len(session.dispatcher.at_rest["backward_begins"]) < len(session.dispatcher.steady["backward_begins"])


def test_a_step_that_failed_is_followed_by_one_seen_whole(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.to_rest()
        session.settle()
        assert not loop.at_rest()


@pytest.mark.parametrize("inspect_steps", [0, 4])
def test_a_healthy_program_of_many_parts_is_silent_however_it_rests(tmp_path: Path, inspect_steps: int) -> None:
    """A schedule of each epoch, two optimizers, an evaluation, and blocks of rest begun and ended at odd places."""
    with under_watch(tmp_path, cost=0.03, inspect_steps=inspect_steps) as session:
        loop = Loop(session)
        head = nn.Linear(4, 1)
        other = torch.optim.Adam(head.parameters(), lr=1e-3, weight_decay=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(loop.optimizer, 5, 0.9)
        data = TensorDataset(torch.randn(96, 4), torch.randn(96, 1))
        sides = set()
        for epoch in range(40):
            loop.model.train()
            for step, (x, y) in enumerate(DataLoader(data, batch_size=8, shuffle=True)):
                if session.state.step > FIRST_STEPS and (epoch * 5 + step) % 23 == 0:
                    session.state.own_s += 20.0
                if (epoch * 7 + step) % 31 == 0:
                    session.governor.reset()
                sides.add(loop.at_rest())
                loop.optimizer.zero_grad()
                nn.functional.mse_loss(loop.model(x), y).backward()
                loop.optimizer.step()
                if step % 2:
                    other.zero_grad()
                    nn.functional.mse_loss(head(x), y).backward()
                    other.step()
            schedule.step()
            loop.model.eval()
            with torch.no_grad():
                for x, y in DataLoader(data, batch_size=32):
                    nn.functional.mse_loss(loop.model(x), y)
        assert sides == {True, False}
    said = [e.finding.message for e in events(tmp_path) if isinstance(e, Found) and e.finding.severity != "note"]
    assert said == []


def by_hand(model: nn.Module, rows: torch.Tensor) -> None:
    model.zero_grad()
    model(rows).pow(2).mean().backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.01 * p.grad


def test_a_loop_that_writes_its_weights_itself_rests_and_works_again_at_a_bad_number(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, rows = nn.Linear(4, 1), torch.randn(8, 4)
    with under_watch(tmp_path, **RESTS) as session:
        for _ in range(FIRST_STEPS):
            by_hand(model, rows)
        assert not session.events.rests()
        session.state.own_s += 100.0
        for _ in range(3):
            by_hand(model, rows)
        assert session.events.rests()
        assert session.dispatcher.rests
        number = session.state.iteration
        by_hand(model, rows / torch.zeros(()))
        assert not session.events.rests()
    (incident,) = incidents(tmp_path)
    assert incident.trace_id.endswith(f"-{number}")
    assert incident.verdict is not None


def test_an_optimizer_that_comes_later_is_told_to_observers_that_rested(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, rows = nn.Linear(4, 1), torch.randn(8, 4)
    with under_watch(tmp_path, **RESTS) as session:
        for _ in range(FIRST_STEPS):
            by_hand(model, rows)
        session.state.own_s += 100.0
        for _ in range(3):
            by_hand(model, rows)
        assert session.events.rests()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        assert not session.events.rests()
        model(rows).pow(2).mean().backward()
        optimizer.step()
    assert not [e for e in events(tmp_path) if isinstance(e, Found)]


def test_where_only_the_calls_of_the_loop_tell_what_it_trains_its_observers_alone_rest(tmp_path: Path) -> None:
    alone: list[bool] = []
    torch.manual_seed(0)
    weight, rows = torch.randn(4, 1, requires_grad=True), torch.randn(8, 4)
    with under_watch(tmp_path, **RESTS) as session:
        session.state.has_optimizer = False  # optimizers of other tests may still be alive
        for step in range(FIRST_STEPS + 60):
            if step >= FIRST_STEPS:
                session.state.own_s += 100.0
            weight = weight.detach().clone().requires_grad_()
            (rows @ weight).pow(2).mean().backward()
            weight = weight - 0.01 * weight.grad
            alone.append(session.events.observers_rest and session.dispatcher.rests and not session.events.rests())
        assert any(alone[FIRST_STEPS:])  # not each: on a busy machine a slow step can ask for a close look
        assert not any(alone[:FIRST_STEPS])
