"""The gradient clipped before the update."""

from __future__ import annotations

import pytest
import torch

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.clipped_gradient import clip
from debugtracer.interventions.intervention import asked
from debugtracer.replay.offline.attempt import tape_of
from tests.interventions.building import too_fast, trial
from tests.interventions.test_update_rows import OPTIMIZERS, recorded
from tests.replay.capsules import incident


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


def test_a_recorded_update_is_clipped_before_its_first_operator(tmp_path):
    tape = tape_of(recorded(tmp_path, OPTIMIZERS["sgd"]))
    assert asked("clipped-gradient=0.5").offline(tape) == "all gradients clipped to L2 norm 0.5"
    assert len(tape.between) == 1


def test_a_step_that_stopped_before_its_update_has_none_to_clip(tmp_path):
    w = torch.ones(1, requires_grad=True)
    x = torch.tensor([[-1.0]])
    capsule = incident(tmp_path, lambda: torch.log(x * w).sum(), {"batch[0]": x, "parameter w": w}, rows=1)
    with pytest.raises(ReplayRefused, match="the capsule holds no update"):
        asked("clipped-gradient").offline(tape_of(capsule))


def test_gradients_within_the_limit_stay_as_they_are():
    one, two = torch.tensor([3.0]), torch.tensor([4.0], dtype=torch.float64)
    assert clip([one, two], 6.0) == 5.0
    assert (float(one), float(two)) == (3.0, 4.0)
    assert clip([one, two], 1.0) == 5.0
    assert (float(one), float(two)) == (pytest.approx(0.6), pytest.approx(0.8))
