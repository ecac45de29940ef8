"""Adam's moments against fixed limits."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.moment_limits import MomentLimits
from debugtracer.checks.selection import select
from tests.checks.test_snapshots import a_snapshot, an_update, judged

SEED = select("seed")["optimizer/moment-limits"]


def grown(*norms, first=100, check=SEED):
    looks = [
        a_snapshot(first + 100 * n, params=(an_update("w", moment_l2=0.6 * norm), an_update("b", moment_l2=0.8 * norm)))
        for n, norm in enumerate(norms)
    ]
    return [finding.message for finding in judged(check, *looks)]


def vanished(least_v, check=SEED):
    params = (an_update("fine", least_v=1e-3), an_update("untouched", least_v=0.0), an_update("emb.w", least_v=least_v))
    return judged(check, *(a_snapshot(step, params=params) for step in (0, 1)))


def test_it_is_off_until_a_limit_is_set():
    assert grown(1.0, 1e9, check=MomentLimits()) == []
    assert vanished(1e-30, check=MomentLimits()) == []


def test_a_norm_beyond_the_first_settled_one_is_a_note_once():
    assert grown(2.0, 3.2, 4.0) == [
        "step 200, rank 0: the norm of Adam's first moments is 3.2, 1.6 times the 2 of step 100; expected at most 1.5 "
        "times. Lower the learning rate, or clip."
    ]


@pytest.mark.parametrize("norms", [(2.0, 3.0), (2.0, 1.0, 2.5), (2.0, float("inf"))])
def test_at_the_limit_it_is_silent(norms):
    assert grown(*norms) == []


def test_moments_that_still_start_from_zero_are_no_measure():
    assert grown(0.01, 3.0, first=-60) == []


def test_five_rises_in_a_row_are_a_note_too():
    slow = [1.16**n / 10 for n in range(6)]
    by_rise = MomentLimits(rise=0.15)
    (message,) = grown(*slow, check=by_rise)
    assert "larger by 16% or more in 5 looks in a row; expected at most one or two" in message
    assert grown(*slow[:5], check=by_rise) == []
    assert grown(*slow[:3], slow[2], *slow[3:5], check=by_rise) == []


def test_a_second_moment_that_has_vanished_is_a_note_with_its_parameter():
    (finding,) = vanished(3e-12)
    assert finding.message == (
        "step 0, rank 0: the smallest second moment of Adam is 3e-12, in emb.w; expected at least 1e-10. Look at its "
        "gradients, at eps and at the scale of the loss."
    )
    assert (finding.severity, finding.place.param, finding.place.module) == ("note", "emb.w", "emb")
    assert vanished(2e-10) == []


def test_the_first_moments_are_settled_from_step_50_on():
    assert grown(0.01, 3.0, first=49) == []
    assert len(grown(0.01, 3.0, first=50)) == 1


def test_at_the_limit_of_a_rise_and_of_a_second_moment():
    twice = MomentLimits(rise=1.0)
    assert grown(*[2.0**n for n in range(6)], check=twice) == []
    assert len(grown(*[2.01**n for n in range(6)], check=twice)) == 1
    assert vanished(1e-10) == []
    assert len(vanished(0.99e-10)) == 1
