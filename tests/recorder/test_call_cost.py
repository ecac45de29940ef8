"""Facts about the time of calls too short to be timed each: one stands for many, an interrupted one for a few."""

from __future__ import annotations

import pytest
import torch
from torch.overrides import _len_torch_function_stack

from debugtracer.recorder import call_cost
from debugtracer.recorder.call_cost import EVERY, SLOW, CallCost, PassOn, detour
from debugtracer.recorder.run_state import RunState


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> CallCost:
    monkeypatch.setattr(call_cost, "detour", lambda: 1.0)
    return CallCost(RunState())


def timed(cost: CallCost, seconds: float, calls: int = EVERY) -> None:
    cost.left -= calls
    cost.add(seconds)


def test_a_timed_call_stands_for_all_before_it(cost: CallCost) -> None:
    timed(cost, 2.0)
    assert cost.state.own_s == EVERY * (2.0 + 1.0)
    assert cost.left == EVERY


def test_calls_that_passed_untimed_are_counted_too(cost: CallCost) -> None:
    timed(cost, 2.0, EVERY + 5)
    assert cost.state.own_s == (EVERY + 5) * 3.0


def test_a_call_during_which_another_program_ran_counts_a_few_times_the_mean(cost: CallCost) -> None:
    timed(cost, 1.0)
    timed(cost, 1e6)
    assert 1.0 < cost.mean_s <= SLOW


def test_the_first_call_which_imports_what_the_others_find_counts_no_more_than_that(cost: CallCost) -> None:
    timed(cost, 5000.0)
    assert cost.mean_s == SLOW * 1.0
    for _ in range(80):
        timed(cost, 2.0)
    assert cost.mean_s == pytest.approx(2.0, rel=0.02)
    assert cost.state.own_s < 13 * EVERY * SLOW


def test_without_a_detour_the_first_call_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_cost, "detour", lambda: 0.0)
    cost = CallCost(RunState())
    timed(cost, 2.0)
    assert cost.mean_s == 2.0


def test_the_way_through_torch_takes_under_a_millisecond_and_leaves_no_mode() -> None:
    assert 0.0 <= detour() < 1e-3
    assert _len_torch_function_stack() == 0


def test_the_mode_that_only_calls_changes_nothing() -> None:
    with PassOn():
        assert torch.ones(2).sum(dim=0).item() == 2.0
