"""Can scores be low, and far apart?"""

from __future__ import annotations

import math

import pytest

from debugtracer.checks.model.scores_cut import ScoresCut
from debugtracer.trace.facts.loss_call import LossCall, Maker
from tests.checks.facts_at import judged, line, ref

RELU = {"function": "relu", "frame": line(17), "low": 0.0, "high": "Infinity", "zeros": 0.48}
SIGMOID = {"function": "sigmoid", "frame": line(17), "low": 0.0, "high": 1.0, "zeros": 0.0}
TANH = {"function": "tanh", "frame": line(17), "low": -1.0, "high": 1.0}


def calls(maker: dict[str, object], count: int = 3, **fields: object) -> list[LossCall]:
    common = {"loss": "cross_entropy", "frame": line(31), "classes": 8, "maker": Maker(**maker)}  # type: ignore[arg-type]
    return [LossCall(ref=ref(step), **{**common, **fields}) for step in range(count)]  # type: ignore[arg-type]


def behind(maker: dict[str, object]) -> dict[str, object]:
    return {"function": "log_softmax", "given": Maker(**maker)}  # type: ignore[arg-type]


def test_scores_behind_a_relu_are_told_with_the_share_of_zeros():
    (finding,) = judged(ScoresCut(), calls(RELU))
    assert finding.message == (
        "step 0, rank 0: cross_entropy (train.py:31) is given the output of relu (train.py:17), so no score can be "
        "below 0, and 48% of them are exactly 0 in 3 calls, without a gradient; expected scores of both signs. Give "
        "cross_entropy the output of the last layer as it is, without relu."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(17), line(31))


def test_scores_between_bounds_are_told_with_the_floor():
    (finding,) = judged(ScoresCut(), calls(SIGMOID))
    assert "so scores lie in 0..1 in 3 calls, and the loss cannot fall below 1.274, where 2.079 is" in finding.message
    assert finding.evidence["part"] == pytest.approx(math.log(1 + 7 / math.e))


@pytest.mark.parametrize(
    ("maker", "fields", "words"),
    [
        (behind(SIGMOID), {"loss": "nll_loss"}, "below 1.274"),
        (behind(RELU), {"loss": "nll_loss"}, "48% of them"),
        (RELU, {"loss": "binary_cross_entropy_with_logits", "classes": None}, "no probability below 0.5"),
        (TANH, {"loss": "binary_cross_entropy_with_logits", "classes": None}, "below 0.3133, where 0.6931 is"),
        (TANH, {"classes": 2}, "below 0.1269"),
    ],
)
def test_other_ways_to_cut_scores(maker, fields, words):
    (finding,) = judged(ScoresCut(), calls(maker, **fields))
    assert words in finding.message


@pytest.mark.parametrize(
    "given",
    [
        calls(RELU, 2),
        calls(RELU | {"zeros": 0.01}),
        calls(RELU | {"zeros": None}),
        [*calls(RELU, 2), *calls(TANH, 1)],
        calls({"function": "clamp", "low": -10.0, "high": 10.0}),
        calls({"function": "softmax", "low": 0.0, "high": 1.0}),
        calls({"function": "log_softmax"}, loss="nll_loss"),
        calls(SIGMOID, loss="binary_cross_entropy_with_logits", classes=None),
        calls(SIGMOID, label_smoothing=0.1),
        calls(SIGMOID, target_dtype="float32"),
        calls(RELU, loss="mse_loss"),
        calls(RELU, reduction="none"),
        calls(TANH, classes=1),
    ],
)
def test_other_scores_are_silent(given):
    assert not judged(ScoresCut(), given, ended=True)
