"""Trials on a capsule: the control first, ladders climbed, health judged as live."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import torch

from debugtracer.diagnosis.proof.offline_trials import heals, is_scaled, try_offline
from debugtracer.interventions.intervention import asked
from debugtracer.replay.trials.score import Score
from debugtracer.trace.window import GRAD_L2, LOSS
from tests.replay.capsules import incident


def test_the_control_is_first_and_each_is_tried_alone(tmp_path: Path) -> None:
    x, w = torch.tensor([[4.0], [0.0]]), torch.ones(1, requires_grad=True)
    capsule = incident(tmp_path, lambda: torch.sqrt(x * w).sum(), {"batch[0]": x, "parameter w": w}, rows=2)
    tried = try_offline(capsule, [asked("stable-op"), asked("larger-eps"), asked("without-sample")])
    assert [(one.trial.intervention, one.trial.outcome) for one in tried] == [
        ("unchanged", "reproduced"),
        ("stable-op=1e-06", "healed"),
        ("larger-eps=0.0001", "could not run"),
        ("without-sample", "healed"),
    ]
    assert [one.birth.op if one.birth else None for one in tried] == ["aten::sqrt", None, None, None]
    assert tried[0].trial.bad_op == "aten::sqrt"
    assert tried[3].trial.loss == 4.0


def test_a_given_value_is_tried_alone_and_a_default_climbs_its_ladder(tmp_path: Path) -> None:
    x, w = torch.tensor([[1.0], [0.0]]), torch.zeros(1, requires_grad=True)
    capsule = incident(tmp_path, lambda: (1.0 / (x + w)).sum(), {"batch[0]": x, "parameter w": w}, rows=2)
    usual = msgspec.structs.replace(capsule.head.facts, recent={GRAD_L2: [1.0, 1.0, 1.0]})
    capsule.head = msgspec.structs.replace(capsule.head, facts=usual)  # the derivative at 1e-6 is 1e12
    asked_for = {
        word: [one.trial.intervention for one in try_offline(capsule, [asked(word)])[1:]]
        for word in ("stable-op", "stable-op=1e-5")
    }
    assert asked_for == {"stable-op": ["stable-op=1e-06", "stable-op=0.001"], "stable-op=1e-5": ["stable-op=1e-05"]}


def test_a_capsule_that_cannot_run_is_told_once(tmp_path: Path) -> None:
    x, w = torch.tensor([[1.0], [0.0]]), torch.ones(1, requires_grad=True)
    capsule = incident(tmp_path, lambda: torch.log(x * w).sum(), {"batch[0]": x, "parameter w": w}, rows=2)
    (only,) = try_offline(capsule, [asked("stable-op")], device="cuda:99")
    assert only.trial.outcome == "could not run"
    assert only.trial.note.startswith("--device cuda:99 cannot be used here")


def test_without_gradients_a_loss_far_from_the_last_ones_is_no_health() -> None:
    recent = {LOSS: [2.0, 2.5, 1.9]}
    assert heals(Score(loss=24.9), recent)
    assert not heals(Score(loss=25.1), recent)
    assert heals(Score(loss=25.1, grad_l2=1.0), recent)
    assert heals(Score(loss=1e9), {LOSS: [2.0, 2.5]})
    assert not heals(Score(loss=math.nan), recent)


def test_a_backward_that_began_from_a_scaled_loss_is_noticed() -> None:
    assert is_scaled(Score(loss=2.0 * 65536), 2.0)
    assert not is_scaled(Score(loss=2.01), 2.0)
    assert not is_scaled(Score(loss=None), 2.0)
    assert not is_scaled(Score(loss=math.nan), math.nan)
