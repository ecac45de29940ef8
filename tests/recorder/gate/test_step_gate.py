"""Facts about the gate of updates: each step counts once, closures are judged before they are used, and a scaler's
search is no fault."""

from __future__ import annotations

import math
import weakref
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.errors import StoppedByTracer
from debugtracer.hooks.scaler import ScalerHook
from debugtracer.recorder.gate.step_gate import RECHECK_SKIPS
from tests.recorder.watched import Watched


def a_model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(3, 1)


def kinds(watched: Watched) -> list[str]:
    assert watched.tape.previous is not None
    return [e.kind for e in watched.tape.previous.entries if e.kind != "const"]


def test_a_step_is_on_the_tape_after_what_led_to_it_and_ends_the_segment() -> None:
    model = a_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Watched() as watched:
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(2, 3)).mean().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        kept = kinds(watched)
        assert kept.pop(5) == "fn", "our own detach of the clip's norm"
        assert kept == ["zero_grad", "module", "fn", "backward", "clip", "step"]
        assert watched.tape.current.entries == []
    assert (watched.state.step, watched.state.iteration) == (2, 2)


@pytest.mark.parametrize("named", [False, True])
def test_the_graph_of_a_closure_s_loss_ends_with_its_step(named: bool) -> None:
    model = a_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    alive: list[weakref.ref[torch.Tensor]] = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(torch.randn(2, 3)).mean()
        loss.backward()
        alive.append(weakref.ref(loss))
        return loss

    with Watched() as watched:
        for _ in range(4):
            assert math.isfinite(optimizer.step(closure=closure) if named else optimizer.step(closure))
        assert kinds(watched)[-1] == "step"
        assert [loss() for loss in alive[:-2]] == [None] * 2, "the tape keeps the last two steps, without their graphs"


def test_two_optimizers_are_two_steps() -> None:
    a, b = a_model(), a_model()
    with Watched() as watched:
        for model in (a, b):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(torch.randn(2, 3)).mean().backward()
            optimizer.step()
    assert watched.state.step == 2


def test_accumulated_backwards_belong_to_one_step() -> None:
    model = a_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Watched() as watched:
        for _ in range(3):
            model(torch.randn(2, 3)).mean().backward()
        optimizer.step()
        assert kinds(watched).count("backward") == 3
    assert (watched.state.step, watched.state.iteration) == (1, 3)


def closure_of(model: nn.Module, optimizer: Any, losses: list[float], data: torch.Tensor) -> Any:
    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        losses.append(loss.item())
        return loss

    return closure


@pytest.mark.parametrize("word", [False, True], ids=["positional", "keyword"])
def test_a_closure_runs_once_and_its_loss_is_given_back(word: bool) -> None:
    model, losses = a_model(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    with Watched() as watched:
        closure = closure_of(model, optimizer, losses, torch.randn(2, 3))
        given = optimizer.step(closure=closure) if word else optimizer.step(closure)
    assert len(losses) == 1
    assert given.item() == losses[0]
    assert watched.state.step == 1


def test_a_bad_gradient_of_a_closure_stops_before_the_update() -> None:
    model, losses = a_model(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    before = model.weight.detach().clone()

    def closure() -> torch.Tensor:
        loss = model(torch.ones(2, 3)).mean()
        loss.backward()
        model.weight.grad.fill_(float("nan"))
        losses.append(loss.item())
        return loss

    with Watched(stops=True) as watched, pytest.raises(StoppedByTracer):
        optimizer.step(closure)
    assert watched.symptoms == [("inf_grad", 0)]
    assert torch.equal(model.weight, before)


def lbfgs(watch: bool) -> tuple[list[torch.Tensor], list[float], Watched]:
    model, losses, watched = a_model(), [], Watched()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5)
    data = torch.arange(12.0).reshape(4, 3)
    closure = closure_of(model, optimizer, losses, data)
    if watch:
        with watched:
            optimizer.step(closure)
    else:
        optimizer.step(closure)
    return [p.detach() for p in model.parameters()], losses, watched


def test_an_optimizer_with_inner_closures_keeps_its_bits_and_is_one_step() -> None:
    bare, bare_losses, _ = lbfgs(False)
    seen, losses, watched = lbfgs(True)
    assert losses == bare_losses
    assert len(losses) > 1
    assert all(torch.equal(a, b) for a, b in zip(bare, seen, strict=True))
    assert watched.state.step == 1
    assert watched.state.iteration == len(losses)


def test_a_bad_inner_closure_stops_before_its_gradients_are_used() -> None:
    model, calls = a_model(), []
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(torch.arange(12.0).reshape(4, 3)).square().mean()
        loss.backward()
        calls.append(1)
        if len(calls) == 2:
            model.weight.grad.fill_(float("inf"))
        return loss

    with Watched(stops=True) as watched, pytest.raises(StoppedByTracer):
        optimizer.step(closure)
    assert len(calls) == 2
    assert [s for s, _ in watched.symptoms] == ["inf_grad"]
    assert watched.stack.pushed is False, "everything was put back when the hooks went"


def test_what_a_closure_raises_is_the_user_s_and_the_loop_is_still_heard() -> None:
    model = a_model()
    for kind in (torch.optim.LBFGS, torch.optim.SGD):
        optimizer: Any = kind(model.parameters())

        def closure() -> float:
            raise KeyError("mine")

        with Watched() as watched:
            with pytest.raises(KeyError, match="mine"):
                optimizer.step(closure)
            torch.ones(2).exp()
            assert [getattr(e.function, "__name__", "") for e in watched.tape.current.entries][-1] == "exp"


class Scaled:
    """A loop under a GradScaler on the CPU, wired as the session wires it."""

    def __init__(self, init_scale: float = 2.0**16, growth: int = 2000, dtype: torch.dtype = torch.float32) -> None:
        self.watched = Watched()
        self.watched.hooks.append(ScalerHook(self.watched.events, self.watched.thread))
        self.model = a_model().to(dtype)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=init_scale, growth_interval=growth)

    def run(self, bad: list[bool]) -> None:
        for wrong in bad:
            self.optimizer.zero_grad()
            loss = self.model(torch.ones(2, 3)).square().mean()
            self.scaler.scale(loss).backward()
            if wrong:
                self.model.weight.grad[0, 0] = float("inf")
            self.scaler.step(self.optimizer)
            self.scaler.update()


def test_a_skipped_step_counts_and_a_scale_search_is_no_alarm() -> None:
    loop = Scaled()
    with loop.watched as watched:
        loop.run([True, True, True, False, False])
    assert (watched.state.step, watched.state.skipped) == (5, 3)
    assert watched.alarms == []


def test_the_loss_published_is_the_unscaled_one() -> None:
    loop = Scaled()
    with loop.watched as watched:
        loss = loop.model(torch.ones(2, 3)).square().mean().item()
        loop.run([False])
    assert watched.points[0][1]["loss"] == pytest.approx(loss)
    assert watched.points[0][1]["scale"] == 2.0**16


def test_a_skip_at_a_scale_that_worked_before_is_looked_into() -> None:
    loop = Scaled()
    with loop.watched as watched:
        loop.run([False, True])
    assert watched.symptoms == [("inf_grad", 1)]
    assert watched.alarms[0].at_scale_one
    assert watched.alarms[0].scaler is loop.scaler


def test_steps_skipped_one_after_another_are_looked_into_now_and_then() -> None:
    loop = Scaled()
    with loop.watched as watched:
        loop.run([True] * (RECHECK_SKIPS[0] - 1))
        assert watched.alarms == []
        loop.run([True])
    assert [s for s, _ in watched.symptoms] == ["inf_grad"]


def test_the_scaler_decides_and_the_bits_are_those_of_a_bare_run() -> None:
    bare, seen = Scaled(), Scaled()
    bare.run([False, True, False])
    with seen.watched:
        seen.run([False, True, False])
    assert torch.equal(bare.model.weight, seen.model.weight)
    assert bare.scaler.get_scale() == seen.scaler.get_scale()


def test_copies_that_stop_are_told_once() -> None:
    model = nn.Linear(400, 400)
    optimizer = torch.optim.AdamW(model.parameters())
    with Watched(own_share=0.0) as watched:
        watched.copies.cost_s = [1.0] * 9
        for _ in range(3):
            model(torch.randn(2, 400)).square().mean().backward()
            optimizer.step()
    ((what, why),) = watched.notes
    assert what == "copies-off"
    assert "own_share" in why


def test_numbers_of_a_step_hold_its_time_and_the_wait() -> None:
    model = a_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Watched() as watched:
        watched.state.wait_s = 0.25
        model(torch.randn(2, 3)).mean().backward()
        optimizer.step()
    step, values = watched.points[0]
    assert (step, values["wait_s"], values["lr"]) == (0, 0.25, 0.1)
    assert 0 < values["own_s"] < values["step_s"]
    assert math.isfinite(values["param_l2"])
