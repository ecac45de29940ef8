"""Are the targets of a size that the outputs come to?"""

from __future__ import annotations

import pytest

from debugtracer.checks.data.targets_unscaled import TargetsUnscaled
from debugtracer.trace.facts.constant_answer import ConstantAnswer
from tests.checks.facts_at import judged, line, ref

REACHES = (1e-5, 2e-5, 3e-5)


def looks(reaches: tuple[float | None, ...] = REACHES, every: int = 100, **fields: object) -> list[ConstantAnswer]:
    common = {"loss": "mse_loss", "frame": line(31), "answer": "mean", "value": 6.25e10, "constant": 1.6e9}
    given = {"called": 6.25e10, "rows": 640, **common, **fields}
    return [ConstantAnswer(ref=ref(every * at), reach=one, **given) for at, one in enumerate(reaches)]  # type: ignore[arg-type]


def test_outputs_near_zero_beside_large_targets_are_told():
    (finding,) = judged(TargetsUnscaled(), looks())
    assert finding.message == (
        "step 200, rank 0: the outputs that mse_loss (train.py:31) is given have a size of 7.5 after 200 updates, "
        "0.003 % of that of the targets, 2.5e+05; the loss is 39.1 times what the best constant answer costs, and at "
        "this pace it takes 1e+07 updates more; expected outputs that come near the targets. Standardise the targets."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "data_unnormalised", 31)


def test_outputs_that_stand_are_told_as_such():
    (finding,) = judged(TargetsUnscaled(), looks((1e-5, 1e-5, 1e-5)))
    assert "and they come no nearer" in finding.message


def test_a_distance_is_no_square():
    (finding,) = judged(
        TargetsUnscaled(), looks(loss="l1_loss", answer="median", value=2.5e5, constant=3.2e4, called=2.5e5)
    )
    assert "of the targets, 2.5e+05; the loss is 7.81 times" in finding.message


@pytest.mark.parametrize(
    "given",
    [
        looks((1e-3, 2e-3, 0.02)),
        looks((1e-5, 2e-5, 9e-3)),
        looks((None, None, None)),
        looks(every=50),
        looks(value=2.0e9, constant=1.6e9),
        looks(value=25.0, constant=0.6),
        looks((0.002, 0.004, 0.0099)),
    ],
)
def test_outputs_on_their_way_are_silent(given):
    assert not judged(TargetsUnscaled(), given, ended=True)
