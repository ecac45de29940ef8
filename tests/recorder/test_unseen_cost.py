"""What clocks miss: learnt from blocks of steps at work beside blocks at rest, within bounds, and not where there is
nothing to compare."""

from __future__ import annotations

import pytest

from debugtracer.recorder.unseen_cost import ENOUGH, KEPT, LEAST, MOST, NEAR, REST_UNSEEN, UNSEEN, UnseenCost

REST = (0.002, 0.0002)
MISSED_S = REST_UNSEEN * REST[1]  # of a step at rest


def told(work: tuple[float, float], blocks: int = ENOUGH) -> UnseenCost:
    cost = UnseenCost()
    for _ in range(blocks):
        cost.take(True, *work)
    for _ in range(ENOUGH):
        cost.take(False, *REST)
    return cost


def test_it_is_what_a_step_takes_longer_and_no_clock_has_read() -> None:
    assert told((0.005, 0.002)).each_s == pytest.approx(0.003 - 0.0018 + MISSED_S)


@pytest.mark.parametrize(("work_s", "each_s"), [(0.0021, LEAST * 0.002), (0.02, MOST * 0.002)])
def test_it_has_bounds(work_s: float, each_s: float) -> None:
    assert told((work_s, 0.002)).each_s == pytest.approx(each_s)


def test_what_is_learnt_counts_for_each_step_at_work_and_not_for_what_clocks_read() -> None:
    cost = UnseenCost()
    assert cost.count(True, 1, 0.01, 1.0) == pytest.approx(UNSEEN * 0.01)
    assert cost.seconds(0.01) == pytest.approx(UNSEEN * 0.01)
    cost = told((0.005, 0.002))
    each_s = cost.each_s or 0.0
    assert [cost.count(True, 1, own_s, 1.0) for own_s in (0.002, 0.5)] == [each_s, each_s]
    assert cost.count(False, 64, 0.01, 1.0) == pytest.approx(REST_UNSEEN * 0.01)
    assert cost.seconds(0.512) == pytest.approx(2 * each_s + REST_UNSEEN * 0.01)


def test_a_program_whose_steps_grow_longer_in_a_long_rest_is_compared_with_the_begin_of_it() -> None:
    cost = told((0.005, 0.002))
    near_s = cost.each_s
    for block in range(100):
        cost.take(False, REST[0] * (1.0 if block < NEAR - ENOUGH else 3.0), REST[1])
    assert (cost.each_s, len(cost.at_rest)) == (pytest.approx(near_s), NEAR)
    cost.take(True, 0.005, 0.002)
    cost.take(False, 2 * REST[0], REST[1])  # another rest is looked at again
    assert len(cost.at_rest) == NEAR + 1


def test_without_enough_blocks_nothing_is_learnt() -> None:
    assert told((0.005, 0.002), ENOUGH - 1).each_s is None


def test_one_slow_block_does_not_count_nor_do_the_first_steps_and_a_new_run_begins_anew() -> None:
    cost = UnseenCost()
    cost.take(True, 3.0, 0.001)
    for _ in range(KEPT - 1):
        cost.take(True, 0.005, 0.002)
        cost.take(None, 3.0, 0.001)
    for _ in range(ENOUGH):
        cost.take(False, *REST)
    assert cost.each_s == pytest.approx(0.003 - 0.0018 + MISSED_S)
    cost.reset()
    assert (cost.each_s, len(cost.at_work), len(cost.at_rest)) == (None, 0, 0)


def test_a_thread_that_has_half_a_core_misses_twice_as_much_on_the_wall() -> None:
    cost = told((0.005, 0.002))
    each_s = cost.each_s or 0.0
    assert cost.count(True, 3, 0.002, 0.5) == pytest.approx(6 * each_s)
    assert cost.seconds(0.002) == pytest.approx(6 * each_s)
