"""float16 near the end of its range."""

from __future__ import annotations

from debugtracer.checks.numerics.half_headroom import HalfHeadroom
from tests.checks.test_snapshots import a_snapshot, an_activation, judged


def test_within_two_bits_is_a_note():
    (finding,) = judged(
        HalfHeadroom(),
        a_snapshot(100, an_activation("blocks.7.mlp.0", "Linear", dtype="float16", low=-2.1e4, high=9.0)),
    )
    assert finding.severity == "note"
    assert finding.message == (
        "step 100, rank 0: the activation blocks.7.mlp.0 (float16) reaches 2.1e+04, 1.6 bits below 65504; expected at "
        "least 2 bits of headroom. "
        "Use bfloat16, or float32 for this layer."
    )


def test_smaller_values_and_other_dtypes_are_left_alone():
    assert judged(HalfHeadroom(), a_snapshot(0, an_activation("a", "Linear", dtype="float16", high=1e4))) == []
    assert judged(HalfHeadroom(), a_snapshot(0, an_activation("a", "Linear", dtype="bfloat16", high=6e4))) == []
