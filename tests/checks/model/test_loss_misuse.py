"""Is the input of the loss what that loss expects?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.loss_misuse import LossMisuse
from debugtracer.trace.facts.loss_call import LossCall, Maker
from tests.checks.facts_at import judged, line, ref

SOFTMAX = Maker(function="softmax", dim=1, size=10, module="softmax", frame=line(16))


def calls(count: int = 3, **fields: object) -> list[LossCall]:
    common = {
        "loss": "cross_entropy",
        "frame": line(34),
        "classes": 10,
        "input_shape": (50, 10),
        "target_dtype": "int64",
    }
    return [LossCall(ref=ref(step), **{**common, **fields}) for step in range(count)]  # type: ignore[arg-type]


def test_a_softmax_before_cross_entropy_is_told_with_its_floor():
    (finding,) = judged(LossMisuse(), calls(form="probabilities", maker=SOFTMAX))
    assert finding.message == (
        "step 0, rank 0: the input of cross_entropy is already a softmax: its rows sum to 1 (module softmax, line 16) "
        "in 3 of 3 calls; expected raw scores; so the loss cannot fall below 1.461. Remove the softmax: cross_entropy "
        "applies log_softmax itself."
    )
    assert (finding.kind, finding.exact, finding.place.op, finding.place.module, finding.iteration) == (
        "loss_misuse",
        True,
        "aten::_softmax",
        "softmax",
        0,
    )
    assert finding.place.frame.line == 16
    assert finding.place.symptom_frame.line == 34


@pytest.mark.parametrize(
    "fields",
    [
        {"loss": "nll_loss", "form": "probabilities", "maker": SOFTMAX},
        {"loss": "kl_div", "form": "probabilities", "maker": SOFTMAX},
        {"loss": "kl_div", "form": "log_probabilities", "target_high": -0.1},
        {"loss": "ctc_loss", "form": "probabilities"},
        {"loss": "binary_cross_entropy_with_logits", "maker": Maker(function="sigmoid"), "classes": None},
        {"loss": "binary_cross_entropy", "maker": Maker(function="softmax", dim=1, size=1), "classes": None},
        {"form": "probabilities"},
        {"form": "", "maker": SOFTMAX},
        {"loss": "nll_loss", "form": "scores", "maker": Maker(function="log_softmax", dim=0, size=50)},
        {"loss": "nll_loss", "form": "scores", "input_high": 2.5, "target_is_batch": True},
        {"loss": "ctc_loss", "form": "scores", "input_high": 2.5},
    ],
)
def test_other_mixtures_are_told(fields):
    assert len(judged(LossMisuse(), calls(**fields))) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"form": "scores"},
        {"form": "log_probabilities", "maker": Maker(function="log_softmax", dim=1, size=10)},
        {"loss": "nll_loss", "form": "log_probabilities", "maker": Maker(function="log_softmax", dim=1, size=10)},
        {"loss": "mse_loss", "maker": SOFTMAX, "classes": None},
        {"loss": "mse_loss", "maker": Maker(function="softmax", dim=0, size=50), "classes": None},
        {"form": "scores", "maker": Maker(function="softmax", dim=0, size=50), "input_shape": (50, 10, 4)},
        {"loss": "binary_cross_entropy", "maker": Maker(function="sigmoid"), "classes": None},
        {"classes": 1, "form": "probabilities"},
        {"form": "probabilities", "maker": SOFTMAX, "input_grad": False},
        {"form": ""},
        {"loss": "kl_div", "form": "log_probabilities", "target_high": -0.1, "log_target": True},
        {"loss": "nll_loss", "form": "scores", "input_high": 2.5},  # log-probabilities of actions times advantages
        {"loss": "nll_loss", "form": "scores", "input_high": -0.01, "target_is_batch": True},  # weighed ones
        {"loss": "nll_loss", "form": "scores", "input_high": 2.5, "target_is_batch": True, "reduction": "none"},
        {"loss": "ctc_loss", "form": "scores", "input_high": 0.05},
    ],
)
def test_right_inputs_are_silent(fields):
    assert not judged(LossMisuse(), calls(**fields), ended=True)


def test_two_calls_are_not_enough_unless_the_run_is_over():
    assert not judged(LossMisuse(), calls(2, form="probabilities"))
    assert len(judged(LossMisuse(), calls(2, form="probabilities"), ended=True)) == 1


def test_one_call_with_scores_excuses_the_line():
    assert not judged(LossMisuse(), [*calls(2, form="probabilities"), *calls(1, form="scores")], ended=True)
