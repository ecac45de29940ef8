"""Are scores cosines?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.normalised_across import NormalisedAcross
from debugtracer.trace.facts.crossed_lengths import CrossedLengths
from tests.checks.facts_at import judged, line, ref


def looks(count: int = 2, **more: object) -> list[CrossedLengths]:
    given = {"shape": (96, 24), "unit": 0, "summed": 1, "low": 0.31, "high": 0.74, "softmax": "cross_entropy"}
    given |= {"made": line(17), "frame": line(18)} | more
    return [CrossedLengths(ref=ref(step), **given) for step in range(count)]  # type: ignore[arg-type]


def test_lengths_of_1_along_the_batch_are_told_at_the_line_that_normalises():
    (finding,) = judged(NormalisedAcross(), looks(3))
    assert finding.message == (
        "step 0, rank 0: normalising (train.py:17) gives (96, 24) a length of 1 along dimension 0, and the product "
        "(train.py:18) sums over dimension 1, along which lengths are 0.31 to 0.74, in 2 looks; expected a length of 1 "
        "there, so that what cross_entropy gets are cosines. Normalise along dimension 1."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(17), line(18))


@pytest.mark.parametrize("given", [looks(1), looks(1) * 3])
def test_one_look_is_no_proof(given):
    assert not judged(NormalisedAcross(), given, ended=True)
