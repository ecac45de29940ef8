"""The module of birth left out."""

from __future__ import annotations

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm, Narrowing
from tests.watching import LogHead


def test_without_the_guilty_module_the_step_is_finite(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "bypass-module")
    assert (score.finite, score.change) == (True, "part (HandNorm) replaced by the identity")


def test_the_root_is_not_left_out(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(LogHead(), data()), "bypass-module")
    assert score.refused == "the fault was born in the root module itself"


def test_a_loss_of_the_loop_has_no_module(monkeypatch, tmp_path):
    score = trial(
        monkeypatch,
        tmp_path,
        lambda: fit(Chain(HandNorm()), data(bad=None), loss=lambda out: (out * 0).sum().log()),
        "bypass-module",
    )
    assert score.refused == "the fault was born outside any module"


def test_another_shape_is_refused(monkeypatch, tmp_path):
    class Wide(Narrowing):
        def forward(self, x):
            return super().forward(x).unsqueeze(1)

    class Net(Chain):
        def forward(self, x):
            return self.last(self.part(x).squeeze(1))

    score = trial(monkeypatch, tmp_path, lambda: fit(Net(Wide()), data(value=-1.0)), "bypass-module")
    assert score.refused == "part (Wide) gives another shape than it takes"
