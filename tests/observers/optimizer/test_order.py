"""The calls of each update, seen in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.order import NoStep, StepOrder
from tests.observers.loops import HEALTHY, accumulated, data, gan, mse, net, plain, policy, scaled
from tests.observers.observing import observed


def test_the_pattern_of_a_plain_loop(tmp_path: Path):
    facts = observed(tmp_path / "runs", plain, StepOrder)
    assert [f.pattern() for f in facts] == [("zero_grad", "forward", "backward")] * 4
    assert [f.number for f in facts] == [0, 1, 2, 3]
    assert facts[0].calls[2].frame is not None
    assert facts[0].calls[2].frame.code == "mse(model(x), y).backward()"
    assert facts[0].frame is not None
    assert "make(model.parameters()" in facts[0].frame.code


def test_a_loop_without_zero_grad_uses_gradients_twice(tmp_path: Path):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in data(4):
            mse(model(x), y).backward()
            optimizer.step()

    facts = observed(tmp_path / "runs", loop, StepOrder)
    assert [(f.number, f.stale, f.stale_iteration) for f in facts[:3]] == [
        (0, (), 0),
        (1, ("0.weight", "0.bias", "2.weight", "2.bias"), 1),
        (2, ("0.weight", "0.bias", "2.weight", "2.bias"), 2),
    ]
    assert facts[1].stale_frame is not None
    assert facts[1].stale_frame.code == "mse(model(x), y).backward()"


def test_a_parameter_that_only_the_module_clears_not_the_optimizer(tmp_path: Path):
    def loop() -> None:
        model, extra = net(), nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([*model.parameters(), extra], lr=0.01)
        for x, y in data(3):
            model.zero_grad()
            mse(model(x) * extra, y).backward()
            optimizer.step()

    stale = [f for f in observed(tmp_path / "runs", loop, StepOrder) if f.stale]
    assert [(f.stale, f.stale_count, f.grads) for f in stale] == [(("parameter of shape (1,)",), 1, 5)] * 2


@pytest.mark.parametrize("name", HEALTHY)
def test_no_healthy_loop_uses_a_gradient_twice(tmp_path: Path, name: str):
    assert [f.stale for f in observed(tmp_path / "runs", HEALTHY[name], StepOrder) if f.stale] == []


def test_each_optimizer_of_a_gan_has_its_own_pattern(tmp_path: Path):
    facts = observed(tmp_path / "runs", gan, StepOrder)
    assert {f.optimizer for f in facts} == {0, 1}
    critic = [f for f in facts if f.optimizer == 1 and f.number == 1]
    assert [(c.word, c.live) for c in critic[0].calls if c.word != "forward"] == [
        ("backward", True),
        ("zero_grad", True),
        ("backward", True),
    ]


@pytest.mark.parametrize(("reduction", "tasks", "sure"), [("mean", 1, True), ("sum", 1, False), ("mean", 2, False)])
def test_a_microbatch_is_a_batch_of_its_own_and_no_sum(tmp_path: Path, reduction: str, tasks: int, sure: bool) -> None:
    def run() -> None:
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        loader = DataLoader(TensorDataset(torch.randn(64, 3), torch.randn(64, 1)), batch_size=4)
        for i, (x, y) in enumerate(loader):
            for _ in range(tasks):
                nn.functional.mse_loss(model(x), y, reduction=reduction).backward()
            if i % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()

    facts = observed(tmp_path, run, StepOrder)
    assert facts
    assert all(all(c.microbatch for c in fact.backwards()) is sure for fact in facts)


def test_microbatches_and_several_losses_are_counted(tmp_path: Path):
    facts = observed(tmp_path / "accumulated", accumulated, StepOrder)
    assert [(len(f.backwards()), f.calls[-1].divided) for f in facts] == [(4, True)] * 3 + [(2, True)]
    both = observed(tmp_path / "policy", policy, StepOrder)
    assert {len(f.backwards()) for f in both} == {8}


def test_clips_know_the_scale_their_gradients_carry(tmp_path: Path):
    right = observed(tmp_path / "right", lambda: scaled(2.0**10, 3), StepOrder)[0]
    wrong = observed(tmp_path / "wrong", lambda: scaled(2.0**10, 3, "wrong"), StepOrder)[0]
    assert right.pattern() == ("zero_grad", "forward", "backward", "unscale", "clip")
    clips = [next(c for c in f.calls if c.word == "clip") for f in (right, wrong)]
    assert [(c.live, c.scaled, c.limit, c.scale) for c in clips] == [
        (True, False, 1.0, None),
        (True, True, 1.0, 1024.0),
    ]


def test_gradients_cleared_before_the_step_leave_it_empty(tmp_path: Path):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in data(3):
            mse(model(x), y).backward()
            optimizer.zero_grad()
            optimizer.step()

    assert [f.empty for f in observed(tmp_path / "runs", loop, StepOrder)[:3]] == [True] * 3


def never(steps: int, second: bool) -> Callable[[], None]:
    def loop() -> None:
        model, other = nn.Linear(4, 8), nn.Linear(8, 1)
        first, last = torch.optim.SGD(model.parameters(), lr=0.01), torch.optim.SGD(other.parameters(), lr=0.01)
        for x, y in data(steps):
            first.zero_grad()
            last.zero_grad()
            mse(other(model(x)), y).backward()
            first.step()
            if second:
                last.step()

    return loop


def test_an_optimizer_that_never_steps_is_told_with_what_was_thrown_away(tmp_path: Path):
    facts = observed(tmp_path / "runs", never(52, second=False), NoStep)
    assert [(f.optimizer, f.backwards, f.zeroed) for f in facts] == [(1, 50, 49), (1, 52, 51)]
    assert observed(tmp_path / "both", never(52, second=True), NoStep) == []


def test_two_optimizers_on_one_gradient(tmp_path: Path):
    def loop() -> None:
        model = net()
        first, last = torch.optim.SGD(model.parameters(), lr=0.01), torch.optim.SGD(model[2].parameters(), lr=0.01)
        for x, y in data(2):
            first.zero_grad()
            mse(model(x), y).backward()
            first.step()
            last.step()

    assert [(f.optimizer, f.shared, f.held) for f in observed(tmp_path / "runs", loop, StepOrder)][:2] == [
        (0, 0, 4),
        (1, 2, 2),
    ]


def test_a_second_step_for_one_backward_uses_its_gradients_again(tmp_path: Path):
    def program(twice: bool) -> None:
        model = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(4, 3)).square().mean().backward()
            optimizer.step()
            if twice:
                optimizer.step()

    assert [f.repeated for f in observed(tmp_path / "a", lambda: program(True), StepOrder)][:6] == [0, 2, 0, 2, 0, 2]
    assert {f.repeated for f in observed(tmp_path / "b", lambda: program(False), StepOrder)} == {0}
