"""Can the condition that keeps the best model ever hold?"""

from __future__ import annotations

import math

import pytest

from debugtracer.checks.rollback.best_unreached import BestUnreached
from debugtracer.trace.facts.best_kept import BestKept
from debugtracer.trace.number import number
from tests.checks.facts_at import judged, line, ref


def kept(values, best=0.0, mode="min", own=True):
    return [
        BestKept(
            ref=ref(40 * count), keeper=1000, owner="loss < least", monitor="loss", mode=mode, count=count,
            value=number(value), frame=line(9), own=own, best=number(best), begun=line(3),
        )
        for count, value in enumerate(values)
    ]  # fmt: skip


def test_a_least_value_that_begins_at_0_is_told_where_it_is_set():
    (finding,) = judged(BestUnreached(), kept([0.9, 0.5, 0.412, 0.4]))
    assert finding.message == (
        "step 80, rank 0: `loss < least` (train.py:9) has kept no evaluation of 3: least is 0 as it was set "
        "(train.py:3), loss has come to 0.412 at best; expected a start that a value can be below. Set it to "
        'float("inf").'
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(3), line(9))


def test_a_largest_value_that_begins_at_infinity_is_told():
    (finding,) = judged(BestUnreached(), kept([0.2, 0.5, 0.8], best=math.inf, mode="max"))
    assert 'expected a start that a value can be above. Set it to -float("inf").' in finding.message


@pytest.mark.parametrize(
    "given",
    [
        {"values": [0.9, 0.5]},
        {"values": [0.9, 0.5, 0.0, 0.1]},
        {"values": [0.9, 0.5, 0.4], "best": 0.4},
        {"values": [-0.9, -0.5, -0.4], "mode": "max"},
        {"values": [0.9, 0.5, 0.4], "own": False},
    ],
    ids=str,
)
def test_a_best_value_that_was_measured_or_may_be_reached_is_left_alone(given):
    assert not judged(BestUnreached(), kept(**given), ended=True)
