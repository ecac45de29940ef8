"""What is asked at the gate: the plain path does nothing, a failure of ours leaves the program alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import debugtracer.responses.responder as module
from debugtracer import errors
from debugtracer.responses.responder import Responder
from tests.responses.loops import Loop, actions, given
from tests.responses.steps import a_bad_step
from tests.watching import same_bits, under_watch


def test_a_good_step_asks_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("holds", "wrote_bad_weights", "answered"):
        monkeypatch.setattr(Responder, name, lambda self, *a, _name=name, **k: asked.append(_name))
    with under_watch(tmp_path, "prod"):
        Loop().go(given(30, ()))
    assert asked == []


def test_after_it_has_acted_good_steps_ask_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = Responder.holds
    monkeypatch.setattr(Responder, "holds", lambda self, *a: asked.append(self.state.step) or real(self, *a))
    with under_watch(tmp_path, "prod"):
        Loop().go(given(30, (5,)))
    assert asked == [5]


def test_a_failure_of_ours_leaves_the_step_to_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Responder, bad: Any) -> None:
        raise RuntimeError("ours")

    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    monkeypatch.setattr(Responder, "choose", fails)
    with under_watch(tmp_path, "val"):
        loop = Loop()
        loop.go(given(6, (5,)))
    assert errors.failures.pop("responses.responder").count == 2  # before the write and after it
    assert actions(tmp_path) == []
    assert bool(next(loop.model.parameters()).isnan().any())


def test_both_optimizers_of_one_backward_are_held(tmp_path: Path) -> None:
    """The derivative of the first half alone is bad; the second half would be written without the first."""

    def train(passes: bool) -> list[torch.Tensor]:
        torch.manual_seed(0)
        first, second = nn.Linear(4, 8), nn.Linear(8, 1)
        optimizers = [torch.optim.Adam(first.parameters(), lr=0.01), torch.optim.SGD(second.parameters(), lr=0.1)]
        for number, x in enumerate(given(10, ())):
            if passes and number == 5:
                continue
            for optimizer in optimizers:
                optimizer.zero_grad()
            hidden = first(x)
            if number == 5:
                hidden.register_hook(lambda gradient: gradient * float("nan"))
            second(hidden).square().mean().backward()
            for optimizer in optimizers:
                optimizer.step()
        return [*first.parameters(), *second.parameters()]

    with under_watch(tmp_path, "prod"):
        watched = train(False)
    assert all(same_bits(a, b) for a, b in zip(watched, train(True), strict=True))
    assert [(a.action, a.step) for a in actions(tmp_path)] == [("skip-update", 10), ("skip-update", 11)]


@pytest.mark.parametrize("unscales", [False, True])
def test_a_bad_loss_under_a_scaler_moves_neither_scale_nor_buffers(tmp_path: Path, unscales: bool) -> None:
    def train(passes: bool) -> list[torch.Tensor]:
        loop = Loop()
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=4)
        for number, x in enumerate(given(14, (5, 9))):
            if passes and number in (5, 9):
                continue
            loop.optimizer.zero_grad()
            scaler.scale(loop.model(x).square().mean()).backward()
            if unscales:
                scaler.unscale_(loop.optimizer)
                nn.utils.clip_grad_norm_(loop.model.parameters(), 1.0)
            scaler.step(loop.optimizer)
            scaler.update()
        return [*loop.state(), scaler._scale, scaler._growth_tracker]  # type: ignore[list-item]

    with under_watch(tmp_path, "prod"):
        watched = train(False)
    assert all(same_bits(a, b) for a, b in zip(watched, train(True), strict=True))
    assert [(a.action, a.step) for a in actions(tmp_path)] == [("skip-update", 5), ("skip-update", 9)]


def test_a_scale_that_is_too_high_is_left_to_the_scaler(tmp_path: Path) -> None:
    loop = Loop()
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    with under_watch(tmp_path, "prod") as session:
        for x in given(8, ()):
            loop.optimizer.zero_grad()
            scaler.scale(loop.model(x).square().mean() * 8).backward()
            scaler.step(loop.optimizer)
            scaler.update()
        assert session.state.skipped > 0
    assert actions(tmp_path) == []


def test_a_closure_gives_its_loss_although_the_update_is_left_out(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"):
        loop = Loop()
        for number, x in enumerate(given(6, (4,))):

            def closure(x: torch.Tensor = x) -> torch.Tensor:
                loop.optimizer.zero_grad()
                loss = loop.model(x).square().mean()
                loss.backward()
                return loss

            loss = loop.optimizer.step(closure)
            assert isinstance(loss, torch.Tensor) and bool(loss.isnan()) is (number == 4)
    assert [a.step for a in actions(tmp_path)] == [4]


@pytest.mark.parametrize(
    ("theirs", "numbers", "seen"),
    [
        ((1,), frozenset({16, 24}), (True, True, 24)),
        ((1,), frozenset(), (True, True, None)),
        ((0,), frozenset({16}), (False, False, None)),
        (None, None, (False, False, None)),
    ],
)
def test_bad_weights_of_another_rank_are_the_bad_weights_of_all(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    theirs: tuple[int, ...] | None,
    numbers: frozenset[int] | None,
    seen: tuple[bool, bool, int | None],
) -> None:
    """What the other ranks have answered; the way there is tested in tests/recorder/gate/test_rank_vote.py."""
    monkeypatch.setattr(module, "several_ranks", lambda: True)
    with under_watch(tmp_path, "prod") as session:
        responder = session.responder
        assert responder is not None
        monkeypatch.setattr(responder.ranks, "refuses", lambda bad: "")
        monkeypatch.setattr(responder.ranks.vote, "ask", lambda bits: theirs)
        monkeypatch.setattr(responder.ranks.vote, "common", lambda steps: numbers)
        bad = responder.seen_by_all(a_bad_step(gradient=True))
    assert (bad.weights, bad.elsewhere, responder.training.agreed) == seen
