"""Running statistics that are those of the last batch."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.statistics_leap import StatisticsLeap
from debugtracer.trace.facts.leaping_statistics import LeapingStatistics
from tests.checks.optimizer.seen import at, found, line

LEAP = {"module": "blocks.0.norm", "frame": line(16), "norms": 1, "momentum": 0.99, "steps": 6, "leap": 0.52}


def judged(**more):
    return found(StatisticsLeap(), [LeapingStatistics(ref=at(15), **{**LEAP, **more})])


def test_a_momentum_of_another_framework():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "average_forgets", line(16))
    assert finding.message == (
        "step 15, rank 0: the running mean of blocks.0.norm (train.py:16) leaps to and fro by 0.52 deviations from "
        "batch to batch (6 steps in a row), since its momentum of 0.99 is the share of the new batch; expected an "
        "average over many. Use momentum=0.1."
    )


def test_how_many_are_like_it():
    (finding,) = judged(norms=3)
    assert "blocks.0.norm (train.py:16) (2 more are like it) leaps" in finding.message


@pytest.mark.parametrize("leap", [0.0, 0.1, 0.24])
def test_large_batches_are_silent(leap):
    assert judged(leap=leap) == []
