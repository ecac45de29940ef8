"""Scalers that skip after their scale was found."""

from __future__ import annotations

from debugtracer.checks.numerics.scaler_backoff import ScalerBackoff
from debugtracer.trace.finding import Finding
from tests.checks.optimizer.seen import told


def said(pattern: str) -> list[Finding]:
    return told(ScalerBackoff(), [{"scaler_skipped": float(c == "x"), "loss_scale": 256.0} for c in pattern])


def test_a_row_after_good_updates():
    (finding,) = said("xxx" + "." * 98 + "xxxxx" + "." * 5)
    assert finding.message == (
        "step 105, rank 0: the scaler has skipped 5 updates in a row, after 98 that went through, the scale is 256; "
        "expected one skip after each growth. Find "
        "the overflowing operation and run it in float32."
    )


def test_a_share_of_the_last_updates():
    (finding,) = said("..x" * 40)
    assert "has skipped 34 of the last 102 updates" in finding.message


def test_the_search_for_the_scale_and_one_skip_per_growth_are_healthy():
    assert said("x" * 20 + ("." * 40 + "x") * 10) == []
