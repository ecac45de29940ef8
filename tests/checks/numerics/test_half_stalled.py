"""Half-precision weights that their updates do not reach."""

from __future__ import annotations

from debugtracer.checks.numerics.half_stalled import HalfStalled
from tests.checks.test_snapshots import a_snapshot, an_update, judged


def steps(*shares, lr=1e-3):
    return [
        a_snapshot(
            i, params=(an_update("head.weight", dtype="bfloat16", stalled=s, lr=lr), an_update("norm.weight", numel=8))
        )
        for i, s in enumerate(shares)
    ]


def test_updates_that_are_rounded_away_twice_in_a_row_are_a_warning():
    (finding,) = judged(HalfStalled(), *steps(0.97, 0.98))
    assert (finding.severity, finding.kind, finding.place.param) == ("warning", "half_weights_stalled", "head.weight")
    assert finding.message == (
        "step 0, rank 0: 97% of the updates of 1 bfloat16 weights (lr 0.001, AdamW) change nothing, most in "
        "head.weight; expected below 90%. "
        "Keep float32 weights and use autocast."
    ).replace("AdamW", "Adam")


def test_a_resting_rate_one_stalled_step_and_float32_are_left_alone():
    assert judged(HalfStalled(), *steps(1.0, 1.0, lr=0.0)) == []
    assert judged(HalfStalled(), *steps(0.97, 0.5)) == []
    assert judged(HalfStalled(), *steps(None, None)) == []
