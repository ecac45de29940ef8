"""The gradient clipped before the update."""

from __future__ import annotations

from debugtracer.interventions.clipped_gradient import clip
from tests.interventions.building import too_fast, trial


def test_an_update_too_large_is_healed_by_a_small_gradient(monkeypatch, tmp_path):
    clipped = trial(monkeypatch, tmp_path, too_fast, "clipped-gradient", 1e-3)
    assert (clipped.finite_update, clipped.change) == (True, "all gradients clipped to L2 norm 0.001")


def test_clipping_that_clips_nothing_is_refused(monkeypatch, tmp_path):
    assert (
        trial(monkeypatch, tmp_path, too_fast, "clipped-gradient", 1e6).refused
        == "the gradients are within L2 norm 1e+06 as they are"
    )


def test_a_step_without_gradients_has_nothing_to_clip():
    assert clip([], 1.0) == 0.0
