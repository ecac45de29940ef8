"""Resumed runs whose schedule begins anew."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.schedule_restarted import ScheduleRestarted
from debugtracer.trace.facts.schedule import RateHistory
from tests.checks.optimizer.seen import at, found, line

AGAIN = {
    "optimizer": 0, "kind": "AdamW", "frame": line(31), "built": 1e-3, "peak": 1e-3, "rate": 9e-4, "lowest": 9e-4,
    "lowest_at": 40, "lowest_step": 39, "updates": 40, "rises": 20, "falls": 19, "rate_frame": line(12),
    "loaded": 6e-5, "loaded_updates": 2000, "loaded_frame": line(44), "first": 1e-5,
}  # fmt: skip


def judged(**more):
    return found(ScheduleRestarted(), [RateHistory(ref=at(39), **{**AGAIN, **more})])


def test_a_second_warm_up_after_a_resume():
    (finding,) = judged()
    assert (finding.severity, finding.kind) == ("warning", "resume_state")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(44), line(12))
    assert finding.message == (
        "step 39, rank 0: AdamW (train.py:31) was loaded (train.py:44) with a rate of 6e-05 after 2000 updates, began "
        "again at 1e-05 and rose to 0.001; expected a schedule that goes on. Restore the step it is computed from."
    )


@pytest.mark.parametrize(
    "healthy",
    [
        {"loaded": None},
        {"loaded_updates": 99},
        {"loaded": 5e-4},
        {"first": 9e-4},  # a rate that is set anew once is another check's
        {"rises": 1},
        {"first": None},
    ],
)
def test_a_schedule_that_goes_on_is_silent(healthy):
    assert judged(**healthy) == []
