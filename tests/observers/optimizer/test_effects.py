"""What updates change, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from debugtracer.trace.facts.effects import Effect
from tests.observers.loops import HEALTHY, data, mse, net, plain
from tests.observers.observing import observed


class Rebinding(torch.optim.Optimizer):
    """Assigns to a local name."""

    def __init__(self, params: Any, lr: float) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                p = p - group["lr"] * p.grad


def test_parameters_that_stay_are_named_and_the_line_is_outside_the_constructor(tmp_path: Path):
    facts = observed(tmp_path / "runs", lambda: plain(4, Rebinding, 0.1), Effect)
    assert [(f.number, f.expected, f.unchanged_count, f.by_torch) for f in facts] == [
        (n, 4, 4, False) for n in range(3)
    ]
    assert facts[0].unchanged[0] == "0.weight"
    assert facts[0].frame is not None
    assert "make(model.parameters()" in facts[0].frame.code


@pytest.mark.parametrize(
    "make",
    [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.NAdam],
)
def test_torchs_optimizers_change_all(tmp_path: Path, make: Callable[..., Any]):
    facts = observed(tmp_path / "runs", lambda: plain(4, make, 1e-2), Effect)
    assert [(f.expected, f.unchanged_count, f.by_torch) for f in facts] == [(4, 0, True)] * 3


def test_too_small_a_rate_and_a_rate_of_0_owe_nothing(tmp_path: Path):
    assert [f.expected for f in observed(tmp_path / "small", lambda: plain(3, torch.optim.SGD, 1e-12), Effect)] == [
        0
    ] * 3
    assert observed(tmp_path / "zero", lambda: plain(3, torch.optim.SGD, 0.0), Effect) == []


@pytest.mark.parametrize("name", ["lbfgs", "sparse", "scaled", "gan", "frozen_group"])
def test_healthy_loops_change_what_they_owe(tmp_path: Path, name: str):
    assert [f for f in observed(tmp_path / "runs", HEALTHY[name], Effect) if f.unchanged] == []


def test_a_look_changes_no_bit(tmp_path: Path):
    def loop() -> list[torch.Tensor]:
        model = net()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for x, y in data(5):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()
        return [p.detach().clone() for p in model.parameters()]

    kept: list[list[torch.Tensor]] = [loop()]
    observed(tmp_path / "runs", lambda: kept.append(loop()), Effect)
    assert all(torch.equal(a, b) for a, b in zip(*kept, strict=True))


class Stopping(torch.optim.SGD):
    """Does nothing from its 90th call on."""

    calls = 0

    def step(self, closure: Any = None) -> None:
        self.calls += 1
        if self.calls < 90:
            super().step()


def test_an_optimizer_that_stops_is_looked_at_again_at_once(tmp_path: Path):
    facts = observed(tmp_path / "runs", lambda: plain(120, Stopping, 0.1), Effect)
    still = [(f.number, f.stopped) for f in facts if f.stopped is not None]
    assert still == [(90, 2), (91, 2), (92, 2), (100, 2)]
    assert all(f.called is not None and "step()" in f.called.code for f in facts if f.stopped is not None)
    assert [f.number for f in facts if f.stopped is None] == [0, 1, 2]


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad])
@pytest.mark.parametrize("times", [1e12, 1e25])
def test_gradients_that_were_enormous_once_owe_no_update_that_shows(tmp_path: Path, kind: Any, times: float):
    """Their squares stay in the optimizer's state, infinite where they do not fit."""

    def loop() -> None:
        model = net()
        optimizer = kind(model.parameters(), lr=1e-3)
        for number, (x, y) in enumerate(data(6)):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            for p in model.parameters():
                assert p.grad is not None
                p.grad.mul_(times if number == 0 else 1e-3)
            optimizer.step()

    facts = observed(tmp_path / "runs", loop, Effect)
    assert [f.unchanged for f in facts[1:]] == [()] * len(facts[1:])
    assert len(facts) > 1


def test_an_optimizer_with_usual_squares_owes_its_update(tmp_path: Path):
    class Dropping(torch.optim.Adam):
        """Counts its moments and writes nothing."""

        @torch.no_grad()
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            held = [p.clone() for group in self.param_groups for p in group["params"]]
            super().step()
            for p, old in zip((p for group in self.param_groups for p in group["params"]), held, strict=True):
                p.copy_(old)

    facts = observed(tmp_path / "runs", lambda: plain(4, Dropping, 1e-2), Effect)
    assert [f.unchanged_count for f in facts] == [4] * 3


class Written(torch.optim.SGD):
    """Writes past the counter of writes, and moves all."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for p in self.param_groups[0]["params"]:
            p.data -= 0.1 * p.grad


class StoppingSoon(torch.optim.SGD):
    """Writes nothing from its sixth update on."""

    done = 0

    def step(self, closure: Any = None) -> None:
        self.done += 1
        if self.done < 6:
            super().step(closure)


def test_an_optimizer_that_writes_nothing_is_looked_at_between_two_looks(tmp_path: Path):
    facts = observed(tmp_path / "stops", lambda: plain(16, StoppingSoon, 0.1), Effect)
    assert [(f.number, f.unchanged_count, f.stopped) for f in facts[3:]] == [(6, 4, 2), (7, 4, 2), (8, 4, 2)]


@pytest.mark.parametrize("make", [Written, torch.optim.SGD, torch.optim.Adam])
def test_what_moves_is_not_looked_at_more_than_once(tmp_path: Path, make: Callable[..., Any]):
    facts = observed(tmp_path / "moves", lambda: plain(16, make, 0.1), Effect)
    assert [f.number for f in facts] == ([0, 1, 2, 4] if make is Written else [0, 1, 2])
    assert all(f.unchanged_count == 0 for f in facts)
