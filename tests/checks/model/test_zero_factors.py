"""Factors of a product that both are 0."""

from __future__ import annotations

from debugtracer.checks.model.zero_factors import ZeroFactors
from tests.checks.test_snapshots import a_snapshot, an_update, judged
from tests.trace.facts.test_health import a_row


def looks(*steps, names=("fc.down", "fc.up"), grad_l2=0.0, shape=(4, 32)):
    rows = [a_row(name, shape=shape) for name in names]
    zeros = [an_update(name, weight_l2=0.0, grad_l2=grad_l2) for name in names]
    return [a_snapshot(step, *rows, params=(an_update("fine"), *zeros)) for step in steps]


def test_two_factors_that_stay_0_are_one_warning():
    (finding,) = judged(ZeroFactors(), *looks(0, 1, 2, 100, 200))
    assert finding.severity == "warning"
    assert finding.message == (
        "step 2, rank 0: fc.down, fc.up are 0 everywhere and have gradients of exactly 0 until step 100 (Adam); "
        "expected one factor of a product that is not 0. Draw one of them at random."
    )
    assert (finding.place.param, finding.place.module) == ("fc.down", "fc")


def test_others_are_counted():
    (finding,) = judged(ZeroFactors(), *looks(0, 100, names=("a.down", "a.up", "b.down", "b.up")))
    assert "a.down, a.up and 2 more are 0 everywhere" in finding.message


def test_what_can_move_or_was_not_seen_for_long_is_left_alone():
    assert judged(ZeroFactors(), *looks(0, 100, grad_l2=1e-9)) == []
    assert judged(ZeroFactors(), *looks(0, 1, 2, 49)) == []
    assert judged(ZeroFactors(), *looks(0, 100, names=("fc.up",))) == []
    assert judged(ZeroFactors(), *looks(0, 100, shape=(64,))) == []
