"""Rates that rise in one update."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.lr_jump import LrJump
from tests.checks.optimizer.seen import found, line, rate


def test_a_rise_far_above_the_peak_is_a_note():
    (finding,) = found(LrJump(), [rate(high=0.1, before=1e-3, peak=1e-3, number=400)])
    assert finding.severity == "note"
    assert finding.message == (
        "step 19, rank 0: the learning rate of AdamW (train.py:5) rises from 0.001 to 0.1 in one update, 100 times the "
        "peak of the 400 updates before; "
        "expected a warm-up. Look at what sets it."
    )


@pytest.mark.parametrize("healthy", [{"number": 99}, {"peak": 0.05}, {"high": 1e-4}, {"peak": 0.0}])
def test_warm_ups_restarts_and_decays_are_healthy(healthy: dict[str, float]):
    assert found(LrJump(), [rate(**{"high": 0.1, "before": 1e-3, "peak": 1e-3, "number": 400, **healthy})]) == []


def test_at_the_limits_of_the_ratio_and_of_the_updates_before():
    known = {"before": 1e-3, "peak": 1.0, "number": 100}
    assert found(LrJump(), [rate(high=10.0, **known)]) == []
    assert len(found(LrJump(), [rate(high=10.01, **known)])) == 1
    assert found(LrJump(), [rate(high=10.01, **{**known, "number": 99})]) == []


def test_the_line_is_that_of_the_scheduler_then_of_what_wrote_the_rate_then_of_the_optimizer():
    known = {"high": 0.1, "before": None, "peak": 1e-3, "number": 400, "frame": line(5)}

    def place(**frames):
        (finding,) = found(LrJump(), [rate(**known, **frames)])
        assert "rises from an unknown rate to 0.1" in finding.message
        return finding.place.frame

    assert place(scheduler_frame=line(7), rate_frame=line(9)) == line(7)
    assert place(scheduler_frame=None, rate_frame=line(9)) == line(9)
    assert place(scheduler_frame=None, rate_frame=None) == line(5)
