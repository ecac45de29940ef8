"""Which steps are judged however late the judge is."""

from __future__ import annotations

import math

from debugtracer.diagnosis.judging.standing_out import TIMES, StandingOut
from debugtracer.trace.window import GRAD_L2


def test_a_norm_far_above_those_of_late_stands_out_and_is_the_new_measure() -> None:
    standing = StandingOut()
    assert [standing.seen({GRAD_L2: norm}, False) for norm in (1.0, 0.9, 1.1 * TIMES, 1.1 * TIMES)] == [
        False,
        False,
        True,
        False,
    ]


def test_a_norm_that_is_not_finite_stands_out_and_is_not_learnt() -> None:
    standing = StandingOut()
    standing.seen({GRAD_L2: 1.0}, False)
    assert standing.seen({GRAD_L2: math.nan}, False)
    assert standing.seen({GRAD_L2: math.inf}, False)
    assert standing.seen({GRAD_L2: TIMES + 0.1}, False)


def test_a_small_norm_of_late_is_a_measure_again_after_some_steps() -> None:
    standing = StandingOut()
    standing.seen({GRAD_L2: 10.0}, False)
    assert not standing.seen({GRAD_L2: 3.0}, False)
    for _ in range(200):
        standing.seen({GRAD_L2: 1.0}, False)
    assert standing.seen({GRAD_L2: 3.0}, False)


def test_a_loss_that_stands_out_is_enough() -> None:
    standing = StandingOut()
    assert standing.seen({}, True)
    assert standing.seen({GRAD_L2: 1.0}, True)
    assert not standing.seen({}, False)
