"""Values that are lost in one step, and steps that are hard by right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer import session
from debugtracer.observers.graph import lost_values
from debugtracer.observers.graph.lost_values import LEARNT
from debugtracer.trace.facts.lost_values import LostValues
from tests.observers.told import facts
from tests.watching import under_watch

BAD = (70, 90)
Change = Callable[[Tensor], Tensor]


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def same(values: Tensor) -> Tensor:
    return values


def lost(values: Tensor) -> Tensor:
    """Somebody else writes into the memory."""
    values.detach().numpy()[...] = 0
    return values


class Ears(nn.Module):
    def __init__(self, between: Change) -> None:
        super().__init__()
        self.first, self.last, self.between, self.bad = nn.Linear(12, 24), nn.Linear(24, 4), between, False

    def forward(self, given: Tensor) -> Tensor:
        heard = torch.tanh(self.first(given))
        heard = self.between(heard) if self.bad else heard
        return self.last(heard)


def seen(tmp_path: Any, by_right: bool = False, **changes: Change) -> list[LostValues]:
    """What is told of a run in which two steps are changed."""
    of_input, of_target, between = (changes.get(name, same) for name in ("of_input", "of_target", "between"))
    with under_watch(tmp_path):
        torch.manual_seed(0)
        kinds = torch.arange(1, 801) % 4
        data = TensorDataset(torch.eye(12)[kinds * 3] + 0.1 * torch.randn(800, 12), kinds)
        model = Ears(between)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        step = 0
        for _ in range(4):
            for x, y in DataLoader(data, batch_size=32, shuffle=True):
                model.bad = step in BAD
                x = of_input(x) if model.bad else x
                y = of_target(y) if model.bad else y
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
                step += 1
    return [fact for fact in facts(tmp_path, LostValues) if fact.by_right == by_right]


def test_an_input_of_a_layer_that_is_lost(tmp_path: Any):
    told = seen(tmp_path, between=lost)
    assert [(f.ref.step, f.module, f.path) for f in told] == [(step, "last", "") for step in BAD]
    assert told[0].frame is not None and told[0].frame.code.startswith("heard = ")


def test_a_batch_that_is_lost(tmp_path: Any):
    told = seen(tmp_path, of_input=lost)
    assert [(f.ref.step, f.path) for f in told] == [(step, "batch[0]") for step in BAD]
    assert len(told[0].samples) == 8


def test_targets_that_are_lost(tmp_path: Any):
    told = seen(tmp_path, of_target=lost)
    assert (told[0].ref.step, {f.path for f in told}) == (BAD[0], {"batch[1]"})


def written(values: Tensor) -> Tensor:
    """The program writes into its batch on purpose."""
    return values.zero_()


def left_out(values: Tensor) -> Tensor:
    return torch.zeros_like(values)


def muted(values: Tensor) -> Tensor:
    return values * 0


@pytest.mark.parametrize(
    "more",
    [
        {"of_input": written}, {"of_input": left_out}, {"of_input": muted}, {"of_target": left_out},
        {"between": muted}, {"between": left_out}, {"of_input": lambda x: x + 5},
    ],
)  # fmt: skip
def test_steps_that_are_hard_on_purpose(tmp_path: Any, more: dict[str, Change]):
    assert seen(tmp_path, **more) == []


@pytest.mark.parametrize("change", [{"of_input": left_out}, {"between": left_out}, {"of_input": muted}])
def test_an_input_that_is_left_out_is_known_to_be_0(tmp_path: Any, change: dict[str, Change]):
    assert [f.ref.step for f in seen(tmp_path, by_right=True, **change)] == list(BAD)


def test_targets_of_one_class_are_no_input_that_is_left_out(tmp_path: Any):
    assert seen(tmp_path, by_right=True, of_target=left_out) == []


def test_a_run_without_a_bad_step(tmp_path: Any):
    assert seen(tmp_path) == []


def test_of_a_step_with_many_backward_calls_the_first_are_looked_at(tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    looked: list[Tensor] = []
    monkeypatch.setattr(lost_values, "zero_inputs", lambda loss: looked.append(loss) or [])
    with under_watch(tmp_path, inspect_steps=2) as watched:
        model = nn.Linear(4, 1)
        optimizer = torch.optim.LBFGS(
            model.parameters(), max_iter=30, max_eval=30, tolerance_grad=0, tolerance_change=0
        )
        x, y = torch.randn(32, 4), torch.randn(32, 1)
        counts: list[int] = []

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss = (model(x) - y).abs().pow(1.5).mean()
            loss.backward()
            counts.append(watched.state.step)
            return loss

        for _ in range(2):
            optimizer.step(closure)
    assert counts.count(0) > LEARNT
    assert len(looked) == LEARNT + min(counts.count(1), LEARNT)
