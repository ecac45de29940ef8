"""Rates that the loop writes and that are next to nothing."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.rate_faded import RateFaded
from debugtracer.trace.facts.schedule import RateFaded as FadedRate
from tests.checks.optimizer.seen import at, found, line

FADED = {
    "optimizer": 0, "kind": "SGD", "frame": line(5), "peak": 8.0, "rate": 2e-6, "updates": 400, "faded": 310,
    "since": 90, "falls": 60, "written": line(81),
}  # fmt: skip


def judged(**more):
    return found(RateFaded(), [FadedRate(ref=at(399), **{**FADED, **more})])


def test_a_rate_that_fell_to_nothing():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "scheduler_misuse", line(81))
    assert finding.message == (
        "step 399, rank 0: the rate of SGD fell from 8 to 2e-06, and was below a thousandth of its peak in 310 of 400 "
        "updates (since step 90), written at train.py:81; expected a rate that lasts the run. Write it from its base."
    )


def test_without_the_line_that_writes_it_the_optimizer_is_named():
    (finding,) = judged(written=None)
    assert finding.place.frame == line(5)
    assert "(since step 90); expected" in finding.message


@pytest.mark.parametrize("healthy", [{"faded": 119}, {"updates": 49, "faded": 40}, {"falls": 4}])
def test_the_end_of_a_schedule_a_short_run_and_a_rate_set_once_are_silent(healthy):
    assert judged(**healthy) == []
