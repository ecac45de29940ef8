"""Rates that are no number."""

from __future__ import annotations

import msgspec

from debugtracer.checks.optimizer.rate_undefined import RateUndefined
from debugtracer.trace.facts.schedule import RateMoved
from debugtracer.trace.step import StepRef
from tests.checks.optimizer.seen import found, line

MOVED = RateMoved(
    ref=StepRef(iteration=126, step=126), optimizer=0, kind="SGD", frame=line(12), built=0.1, now="NaN",
    before=0.000158, after="NaN", step=126, scheduler="LambdaLR", scheduler_frame=line(15), undefined="complex",
)  # fmt: skip


def test_it_names_what_the_rate_is_who_set_it_and_the_rate_before():
    (finding,) = found(RateUndefined(), [MOVED])
    assert finding.message == (
        "step 126, rank 0: the learning rate of SGD (train.py:12) is complex, set by LambdaLR (train.py:15), after "
        "0.000158 one update before; expected a number above 0. Clamp what it is computed from, or end the schedule "
        "with the run."
    )
    assert (finding.severity, finding.exact, finding.place.frame) == ("error", True, line(15))


def test_without_a_scheduler_it_is_the_line_that_writes_the_rate_else_the_optimizer():
    written = msgspec.structs.replace(MOVED, scheduler="", scheduler_frame=None, written=line(20))
    (finding,) = found(RateUndefined(), [written])
    assert "is complex (train.py:20), after" in finding.message
    assert finding.place.frame == line(20)
    (unknown,) = found(RateUndefined(), [msgspec.structs.replace(written, written=None)])
    assert unknown.place.frame == line(12)


def test_an_optimizer_is_told_once_and_a_rate_that_only_moved_never():
    assert len(found(RateUndefined(), [MOVED, MOVED])) == 1
    assert found(RateUndefined(), [msgspec.structs.replace(MOVED, undefined="", now=10.0, after=10.0)]) == []
