"""Do weights add up to 1 along the sum?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.attention_axis import AttentionAxis
from debugtracer.trace.facts.attention_axes import AttentionAxes
from tests.checks.facts_at import judged, line, ref


def looks(count: int = 2) -> list[AttentionAxes]:
    given = {"shape": (50, 12, 12), "soft": 1, "summed": 2, "made": line(21), "frame": line(22)}
    return [AttentionAxes(ref=ref(step), **given) for step in range(count)]  # type: ignore[arg-type]


def test_a_softmax_over_the_queries_is_told_at_its_line():
    (finding,) = judged(AttentionAxis(), looks(3))
    assert finding.message == (
        "step 0, rank 0: the weights of the softmax (train.py:21) of shape (50, 12, 12) add up to 1 along dimension 1, "
        "and the product (train.py:22) sums over dimension 2, in 2 looks; expected one and the same. Take the softmax "
        "over dimension 2."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(21), line(22))


@pytest.mark.parametrize("given", [looks(1), looks(1) * 3])
def test_one_look_is_no_proof(given):
    assert not judged(AttentionAxis(), given, ended=True)
