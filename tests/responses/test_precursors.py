"""Which earlier states are as usual, where a loss has left its level, and what the learning rate did around a state."""

from __future__ import annotations

import math

import pytest

from debugtracer.responses.precursors import JUMP, Rates, has_left_its_level, is_quiet, rates_around
from debugtracer.trace.step import StepLoss

USUAL = [1.0 + 0.2 * math.sin(n) for n in range(60)]


def steps(*losses: float, rate: float = 0.1) -> list[StepLoss]:
    return [StepLoss(step, loss, rate) for step, loss in enumerate(losses)]


def test_states_before_a_jump_are_quiet_and_those_after_it_are_not() -> None:
    known = steps(*USUAL, *[1e6, 1e20, math.inf])
    assert all(is_quiet(known, step) for step in (45, 52, 59))
    assert not any(is_quiet(known, step) for step in (60, 61, 62))


def test_a_single_hard_batch_is_no_precursor() -> None:
    assert is_quiet(steps(*USUAL[:50], 30.0, *USUAL[51:]), 50)
    assert is_quiet(steps(*USUAL[:50], 30.0, *USUAL[51:]), 53)


def test_a_level_that_has_risen_is_one() -> None:
    risen = [3.0 + 0.2 * math.sin(n) for n in range(20)]
    assert not any(is_quiet(steps(*USUAL, *risen), step) for step in (64, 66))


def test_a_level_that_rises_slowly_is_one_once_it_is_far_above_the_lowest() -> None:
    slow = steps(*USUAL, *(1.2 * 1.02**n for n in range(300)))
    assert is_quiet(slow, 100)
    assert not any(is_quiet(slow, step) for step in range(240, 360, 8))


@pytest.mark.parametrize("known", [[], steps(*USUAL[:9]), steps(*USUAL[:20])])
def test_where_too_little_is_known_no_state_is_called_quiet(known: list[StepLoss]) -> None:
    assert not is_quiet(known, 12) and not has_left_its_level(known, 12)


def test_a_bad_loss_on_the_way_is_not_quiet() -> None:
    assert not is_quiet(steps(*USUAL, math.nan, *USUAL), 62)


def test_a_loss_far_above_all_others_has_left_its_level() -> None:
    assert has_left_its_level(steps(*USUAL, 1e6, math.inf), 61)
    assert not has_left_its_level(steps(*USUAL, 3.0, math.inf), 61), "a hard batch"
    assert not has_left_its_level(steps(*USUAL, math.inf), 60)


def test_a_rate_that_the_run_had_used_before_is_no_jump() -> None:
    """A schedule with restarts: 16-fold, and as it was at the begin."""
    known = [StepLoss(step, 1.0, rate) for step, rate in enumerate((0.05, 0.01, 0.003, 0.05))]
    assert rates_around(known, 3) == Rates(0.003, 0.05, 0.05)
    assert not rates_around(known, 3).jumped
    assert rates_around([*known, StepLoss(4, 1.0, 0.05 * JUMP * 1.1)], 3).jumped


def test_where_no_rates_are_known_none_has_jumped() -> None:
    assert not rates_around([], 3).jumped
    assert not rates_around(steps(1.0, 1.0, rate=math.nan), 1).jumped


def test_a_warm_up_that_begins_at_0_is_no_jump() -> None:
    known = [StepLoss(step, 1.0, 0.01 * step) for step in range(6)]
    assert not rates_around(known, 1).jumped
