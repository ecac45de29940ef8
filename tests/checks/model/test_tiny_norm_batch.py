"""Do batch norms see enough values?"""

from __future__ import annotations

from debugtracer.checks.model.tiny_norm_batch import TinyNormBatch
from debugtracer.trace.facts.norm_batch import NormBatch
from tests.checks.facts_at import judged, ref


def norms(look: int, values: int = 2, shape: tuple[int, ...] = (2, 32)) -> NormBatch:
    return NormBatch(ref=ref(look), look=look, values=values, shape=shape, modules=("1",), count=1, total=1)


def test_two_values_are_a_warning():
    (finding,) = judged(TinyNormBatch(), [norms(look) for look in range(5)])
    assert finding.message == (
        "step 0, rank 0: batch norm 1 (of 1) normalises over 2 values of a channel (input (2, 32)) in 3 steps: each "
        "output is +1 or -1; "
        "expected more than 4. Use a larger batch or GroupNorm."
    )
    assert (finding.severity, finding.kind, finding.place.module) == ("warning", "norm_degenerate_batch", "1")


def test_four_values_and_pooled_maps_are_notes():
    assert [f.severity for f in judged(TinyNormBatch(), [norms(look, 4, (4, 32)) for look in range(3)])] == ["note"]
    assert [f.severity for f in judged(TinyNormBatch(), [norms(look, 2, (2, 32, 1, 1)) for look in range(3)])] == [
        "note"
    ]


def test_a_last_short_batch_is_silent():
    assert not judged(TinyNormBatch(), [norms(0), norms(2), norms(5)])
