"""Can the scores of a cross-entropy tell the classes apart?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.scores_bounded import ScoresBounded
from debugtracer.trace.facts.loss_call import LossCall
from tests.checks.facts_at import judged, line, ref


def calls(count: int = 3, **fields: object) -> list[LossCall]:
    common = {"loss": "cross_entropy", "frame": line(31), "classes": 32, "score_limit": 0.01}
    return [LossCall(ref=ref(step), **{**common, **fields}) for step in range(count)]  # type: ignore[arg-type]


def test_a_high_temperature_is_told_with_what_it_costs():
    (finding,) = judged(ScoresBounded(), calls())
    assert finding.message == (
        "step 0, rank 0: cross_entropy (train.py:31) is given cosines times 0.01, in 3 calls, so the loss of 32 "
        "classes cannot fall below 3.446, and log 32 = 3.466 is known without learning; expected scores of 2 to 20. "
        "Divide by a temperature below 1."
    )
    assert (finding.severity, finding.place.frame.line) == ("warning", 31)


@pytest.mark.parametrize(
    "given",
    [
        calls(2),
        calls(score_limit=None),
        calls(score_limit=1.0),
        calls(score_limit=20.0),
        calls(score_limit=0.4, classes=3),
        calls(score_limit=0.4, classes=32),
        calls(classes=2),
        [*calls(2), *calls(1, score_limit=5.0)],
    ],
)
def test_other_scores_are_silent(given):
    assert not judged(ScoresBounded(), given, ended=True)
