"""Is a gradient beyond the fixed limits that somebody has set?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.gradient_limits import GradientLimits
from debugtracer.checks.selection import select
from debugtracer.testing import a_window
from tests.checks.test_snapshots import a_snapshot, an_update, judged
from tests.trace.facts.test_health import a_row

SEED = select("seed")["model/gradient-limits"]


def norm(check, value):
    return [f.message for f in check.judge(a_window(3, grad_l2=(20.0, value)))]


def test_is_off_until_a_limit_is_set():
    assert norm(GradientLimits(), 1e9) == []
    assert judged(GradientLimits(), *(a_snapshot(s, params=(an_update("w", grad_l2=1e9),)) for s in range(5))) == []


def test_the_limits_of_the_articles_for_the_norm():
    assert norm(SEED, 1001.0) == [
        (
            "step 3, rank 0: the gradient norm is 1001; the one before was 20; expected at most 1000. Clip before "
            "step(), or lower the learning rate."
        )
    ]
    assert norm(SEED, 9e-6) == [
        (
            "step 3, rank 0: the gradient norm is 9e-06; the one before was 20; expected at least 1e-05. Look at "
            "saturation, depth and the loss scale."
        )
    ]


@pytest.mark.parametrize("value", [1000.0, 1e-5, 1.0])
def test_at_the_limit_it_is_silent(value):
    assert norm(SEED, value) == []


@pytest.mark.parametrize(
    ("grad_l2", "told"),
    [
        (9e-5, "is 9e-06 of its weight (norms); expected at least 1e-05"),
        (2e6, "is 2e+05 times its weight (norms); expected at most 100000"),
    ],
)
def test_a_matrix_out_of_proportion_in_three_snapshots(grad_l2, told):
    snapshots = [a_snapshot(s, params=(an_update("fine"), an_update("head.weight", grad_l2=grad_l2))) for s in range(3)]
    (finding,) = judged(SEED, *snapshots)
    assert told in finding.message
    assert (finding.place.param, finding.place.module, finding.step) == ("head.weight", "head", 2)
    assert judged(SEED, *snapshots[:2], a_snapshot(2, params=(an_update("head.weight"),))) == []


def test_a_gradient_that_spreads_wider_than_its_weight():
    wide = a_row("w", role="gradient", shape=(64, 64), std=2.02 * 100)
    weight = a_row("w", shape=(64, 64), std=2.0)
    (finding,) = judged(SEED, *(a_snapshot(s, weight, wide, params=(an_update("w"),)) for s in range(3)))
    assert (
        "the gradient of w spreads 101 times as wide as its weight; expected at most 100. Clip it." in finding.message
    )
    constant = a_row("w", shape=(64, 64), std=0.0)
    assert judged(SEED, *(a_snapshot(s, constant, wide, params=(an_update("w"),)) for s in range(3))) == []


def test_a_gain_that_starts_at_zero_is_no_matrix():
    gain = a_row("w", shape=(64,))
    assert judged(SEED, *(a_snapshot(s, gain, params=(an_update("w", grad_l2=1e9),)) for s in range(3))) == []
