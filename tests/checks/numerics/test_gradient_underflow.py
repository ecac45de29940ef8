"""Gradients too small for float16."""

from __future__ import annotations

import pytest

from debugtracer.checks.numerics.gradient_underflow import GradientUnderflow
from tests.checks.test_snapshots import a_snapshot, judged
from tests.trace.facts.test_health import a_row


def gradient(zero_share, tiny, dtype="float16"):
    return a_row(
        "0.weight", role="gradient", dtype=dtype, sampled=100, zero_share=zero_share, bins=(tiny, *[0] * 40, 100 - tiny)
    )


def test_zeros_and_subnormals_count_together():
    (finding,) = judged(GradientUnderflow(), a_snapshot(2, gradient(0.5, 33)))
    assert finding.severity == "note"
    assert finding.message == (
        "step 2, rank 0: 83% of the float16 gradient values of 1 parameter are zero or below 6e-08, most in 0.weight; "
        "expected below 50%. "
        "Scale the loss, or use bfloat16."
    )


def test_less_than_half_and_float32_are_left_alone():
    assert judged(GradientUnderflow(), a_snapshot(2, gradient(0.3, 10))) == []
    assert judged(GradientUnderflow(), a_snapshot(2, gradient(0.9, 10, dtype="float32"))) == []


@pytest.mark.parametrize(("subnormal", "count"), [(1, 0), (2, 1)])
def test_zeros_of_a_parameter_whose_other_values_are_far_above_are_no_underflow(subnormal, count):
    """Rows of an embedding that are not in the batch: 2^-15 is bin 10, 2^-14 bin 11, and 20 values are not zero."""
    bins = (0, *[0] * 9, subnormal, 20 - subnormal, *[0] * 30)
    row = a_row("0.weight", role="gradient", dtype="float16", sampled=100, zero_share=0.8, bins=bins)
    assert len(judged(GradientUnderflow(), a_snapshot(2, row))) == count
