"""Rates that rise in one update."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.lr_jump import LrJump
from tests.checks.optimizer.seen import found, rate


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
