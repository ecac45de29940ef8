"""Nothing changed: the fault comes again."""

from __future__ import annotations

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


def test_the_fault_comes_again(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "unchanged")
    assert (score.finite, score.refused, score.change, score.bad_op) == (False, "", "nothing changed", "aten::div")
