"""A loop that writes its weights itself: its updates are counted, its numbers judged when the backward has ended."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import nn

from debugtracer.errors import StoppedByTracer
from tests.recorder.watched import Watched

STEPS = 6
Update = Callable[[nn.Module], None]


def assigned(model: nn.Module) -> None:
    for p in model.parameters():
        p.data = p.data - 0.1 * p.grad


def added(model: nn.Module) -> None:
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-0.1)


@torch.no_grad()
def subtracted(model: nn.Module) -> None:
    for p in model.parameters():
        p -= 0.1 * p.grad


@torch.no_grad()
def copied(model: nn.Module) -> None:
    for p in model.parameters():
        p.copy_(p - 0.1 * p.grad)


@torch.no_grad()
def at_once(model: nn.Module) -> None:
    torch._foreach_add_(list(model.parameters()), [p.grad for p in model.parameters()], alpha=-0.1)


def nothing(model: nn.Module) -> None:
    return None


def train(model: nn.Module, update: Update, clear: Callable[[], None], steps: int = STEPS) -> None:
    for _ in range(steps):
        clear()
        model(torch.randn(4, 3)).pow(2).mean().backward()
        update(model)


@pytest.mark.parametrize("update", [assigned, added, subtracted, copied, at_once])
def test_each_update_of_the_loop_is_counted(update: Update) -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        watched.state.has_optimizer = False
        train(model, update, model.zero_grad)
        watched.backward_gate.finish()
        assert (watched.state.own_updates, watched.state.step, watched.state.iteration) == (STEPS, STEPS, STEPS)
        assert watched.closed == STEPS
    assert [step for step, _ in watched.points] == list(range(STEPS))
    assert {"loss", "grad_l2", "param_l2", "step_s"} <= watched.points[-1][1].keys()


def test_a_loop_that_never_updates_has_no_updates() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        watched.state.has_optimizer = False
        train(model, nothing, model.zero_grad)
        watched.backward_gate.finish()
        assert (watched.state.own_updates, watched.state.step) == (0, STEPS)


def test_updates_in_place_of_parameters_are_counted() -> None:
    model = nn.Linear(3, 2)
    parameters = dict(model.named_parameters())
    with Watched() as watched:
        watched.state.has_optimizer = False
        for _ in range(STEPS):
            torch.func.functional_call(model, parameters, (torch.randn(4, 3),)).pow(2).mean().backward()
            parameters = {n: (p - 0.1 * p.grad).detach().requires_grad_() for n, p in parameters.items()}
        assert watched.state.own_updates == STEPS - 1  # the last one is used by no backward


def test_an_optimizer_that_only_clears_gradients_ends_no_step() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        idle = torch.optim.SGD(model.parameters(), 0.1)
        train(model, subtracted, idle.zero_grad)
        watched.backward_gate.finish()
        assert watched.state.own_updates == STEPS
        assert watched.state.backward_ends_step
        assert len(watched.tape.current.backwards) == 0


def test_weights_changed_beside_an_optimizer_that_steps_are_no_updates() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        optimizer = torch.optim.SGD(model.parameters(), 0.1)

        def update(model: nn.Module) -> None:
            optimizer.step()
            for p in model.parameters():
                p.data.clamp_(-1, 1)

        train(model, update, optimizer.zero_grad)
        watched.backward_gate.finish()
        assert (watched.state.own_updates, watched.state.step) == (0, STEPS)


def test_accumulation_before_the_first_step_ends_no_step() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        train(model, nothing, lambda: None)
        optimizer.step()
        assert (watched.state.step, len(watched.points)) == (1, 1)


class Root(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.scale).sqrt()


def test_a_bad_gradient_is_an_alarm_before_the_loop_uses_it() -> None:
    model = Root()
    with Watched(stops=True) as watched:
        watched.state.has_optimizer = False
        train(model, subtracted, model.zero_grad, steps=0)
        model(torch.ones(2, 3)).sum().backward()
        subtracted(model)
        with pytest.raises(StoppedByTracer):
            model(torch.zeros(2, 3)).sum().backward()
        (alarm,) = watched.alarms
        assert (alarm.symptom, alarm.iteration, alarm.step) == ("inf_grad", 1, 1)
        assert [id(t) for t in alarm.trained] == [id(model.scale)]
        assert bool(torch.isfinite(model.scale).all())


def test_a_bad_loss_is_one_alarm_and_a_healthy_step_arms_it_again() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        watched.state.has_optimizer = False
        for value in (1.0, math.nan, math.nan, 1.0, math.nan):
            model.zero_grad()
            model(torch.full((2, 3), value)).sum().backward()
        assert [a.symptom for a in watched.alarms] == ["nan_loss", "nan_loss"]


def test_a_gate_that_is_reset_counts_from_nothing() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        watched.state.has_optimizer = False
        train(model, subtracted, model.zero_grad)
        watched.backward_gate.reset()
        assert (watched.backward_gate.trained.norms, watched.backward_gate.trained.latest) == ({}, [])


def test_sharded_weights_are_not_read_and_nothing_is_said_of_their_updates() -> None:
    model = nn.Linear(3, 2)
    with Watched() as watched:
        watched.state.has_optimizer, watched.state.roots.sharded = False, True
        train(model, subtracted, model.zero_grad)
        watched.backward_gate.finish()
        assert (watched.state.weights_unread, watched.state.own_updates, watched.state.step) == (True, 0, STEPS)
    assert set(watched.points[0][1]) == {"loss", "step_s", "own_s", "wait_s", "forward_s", "backward_s"}
