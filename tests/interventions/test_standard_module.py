"""What a person wrote by hand, exchanged for torch's own where the two agree."""

from __future__ import annotations

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import Doubled, HandNorm, HandSoftmax, Odd, Twice


def test_a_layer_norm_without_epsilon_becomes_torchs(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "standard-module")
    assert (score.finite, score.change) == (True, "torch's layer_norm in place of part (HandNorm)")


def test_a_softmax_without_the_largest_score_taken_off_becomes_torchs(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandSoftmax()), data(value=60.0)), "standard-module")
    assert (score.finite, score.change) == (True, "torch's softmax over dimension -1 in place of part (HandSoftmax)")


def test_what_torch_does_not_have_is_refused(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(Odd()), data()), "standard-module")
    assert score.refused == "part (Odd) computes nothing that torch has of its own"


def test_a_backward_of_a_persons_own_is_derived_by_autograd(monkeypatch, tmp_path):
    kept = vars(Doubled)["backward"], vars(Doubled)["forward"]
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(Twice()), data()), "standard-module")
    assert (score.finite, score.change) == (
        True,
        "the backward of Doubled replaced by the one that autograd derives from its forward",
    )
    assert (vars(Doubled)["backward"], vars(Doubled)["forward"]) == kept
