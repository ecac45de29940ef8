"""Running statistics that do not follow."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.statistics_lag import StatisticsLag
from debugtracer.trace.facts.lagging_statistics import LaggingStatistics
from tests.checks.optimizer.seen import at, found, line

LAG = {
    "module": "body.1", "frame": line(21), "norms": 1, "momentum": 0.001, "batches": 300, "kept": 0.74,
    "mean_gap": 0.1, "variance_ratio": 0.11,
}  # fmt: skip


def judged(**more):
    return found(StatisticsLag(), [LaggingStatistics(ref=at(299), **{**LAG, **more})])


def test_a_momentum_of_another_framework():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "average_not_updated", line(21))
    assert finding.message == (
        "step 299, rank 0: the running statistics of body.1 (train.py:21) are 74 % those it was made with after 300 "
        "batches, since its momentum is 0.001; the variance of its batches is 9.1 times the running one; expected "
        "statistics of the data. Use momentum=0.1."
    )


def test_the_mean_is_told_where_it_is_far():
    (finding,) = judged(mean_gap=1.4, norms=3)
    assert "body.1 (train.py:21) (2 more are like it) are" in finding.message
    assert "the mean of its batches is 1.4 deviations from the running one;" in finding.message


@pytest.mark.parametrize("healthy", [{"variance_ratio": 0.9}, {"variance_ratio": 1.2, "mean_gap": 0.4}])
def test_batches_that_are_normal_already_are_silent(healthy):
    assert judged(**healthy) == []
