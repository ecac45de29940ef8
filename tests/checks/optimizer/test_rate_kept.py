"""Rates that no update has seen move."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.rate_kept import RateKept
from debugtracer.trace.facts.schedule import RateKept as KeptRate
from tests.checks.optimizer.seen import at, found, line

KEPT = {"optimizer": 0, "kind": "SGD", "frame": line(5), "built": 0.05, "rate": 1e-5, "updates": 105, "passes": 3}


def judged(**more):
    return found(RateKept(), [KeptRate(ref=at(105), **{**KEPT, **more})])


def test_a_rate_where_its_warm_up_begins():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "scheduler_misuse", line(5))
    assert finding.message == (
        "step 105, rank 0: all 105 updates of SGD (train.py:5) were made at the rate 1e-05 where its schedule begins "
        "from 0.05; expected a rate that moves. Step the scheduler with the epoch that is over."
    )


def test_a_scheduler_of_torch_is_the_line_to_edit():
    (finding,) = judged(scheduler="LambdaLR", scheduler_frame=line(9), calls=3, passes=0)
    assert finding.place.frame == line(9)
    assert "at the rate 1e-05, set by LambdaLR (train.py:9), where" in finding.message


@pytest.mark.parametrize(
    "healthy", [{"passes": 2}, {"rate": 0.01}, {"rate": 0.0}, {"passes": 0}, {"passes": 0, "updates": 199}]
)
def test_a_short_run_and_a_rate_that_is_not_small_are_silent(healthy):
    assert judged(**healthy) == []


def test_many_updates_without_a_loader():
    assert len(judged(passes=0, updates=200)) == 1
