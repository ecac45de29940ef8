"""Interventions tried on recorded steps: what each changes, what it leaves, what it refuses."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from debugtracer.interventions.intervention import asked
from debugtracer.recorder.capsule.capsule import Capsule
from debugtracer.replay.offline.attempt import attempt
from tests.replay.capsules import incident


def batch_of(*values: float) -> Tensor:
    return torch.tensor([[v] for v in values])


def log_of(tmp_path: Path, *values: float) -> Capsule:
    x, w = batch_of(*values), torch.ones(1, requires_grad=True)
    return incident(tmp_path, lambda: (torch.log(x) * w).mean(), {"batch[0]": x, "parameter w": w}, rows=len(values))


def test_unchanged_is_the_recorded_step_with_its_birth(tmp_path: Path) -> None:
    done = attempt(log_of(tmp_path, 0.5, 0.0, 2.0), asked("unchanged"))
    assert done.score.loss == -math.inf
    assert math.isinf(done.score.grad_l2 or 0.0)
    assert not done.score.finite
    assert done.birth is not None
    assert (done.birth.op, done.birth.rows) == ("aten::log", (1,))


def test_a_row_is_replaced_by_a_healthy_one(tmp_path: Path) -> None:
    capsule = log_of(tmp_path, 0.5, 0.0, 2.0)
    done = attempt(capsule, asked("without-sample"))
    assert done.score.loss == pytest.approx((2 * math.log(0.5) + math.log(2.0)) / 3)
    assert done.score.change == "row 1 replaced by row 0"
    named = attempt(capsule, asked("without-sample=2"))
    assert named.score.change == "row 2 replaced by row 0"
    assert named.score.loss == -math.inf
    assert (
        attempt(capsule, asked("without-sample=3")).score.refused == "row 3 is not in the batch, which has rows 0 to 2"
    )


def test_a_batch_is_repaired_where_it_is_not_finite(tmp_path: Path) -> None:
    done = attempt(log_of(tmp_path, 0.5, math.inf, 2.0), asked("sanitised-batch"))
    assert done.score.loss == pytest.approx((math.log(0.5) + 2 * math.log(2.0)) / 3)
    assert done.score.change == "1 value of the batch repaired"
    assert (
        attempt(log_of(tmp_path / "b", 0.5, 0.0), asked("sanitised-batch")).score.refused
        == "every value of the batch is finite"
    )


def test_a_range_that_half_lacks_is_there_in_single_precision(tmp_path: Path) -> None:
    x, w = torch.full((2, 4), 200.0).half(), torch.full((4,), 200.0, dtype=torch.float16, requires_grad=True)
    capsule = incident(tmp_path, lambda: (x * w * w).mean().float(), {"batch[0]": x, "parameter w": w}, rows=2)
    assert not attempt(capsule, asked("unchanged")).score.finite
    done = attempt(capsule, asked("full-precision"))
    assert done.score.loss == 8e6
    assert done.score.change == "the whole step in float32"
    assert attempt(capsule, asked("reference-device")).score.change == "the whole step on the CPU in float64"
    assert (
        attempt(log_of(tmp_path / "b", 0.0, 1.0), asked("full-precision")).score.refused
        == "nothing of the step is in half precision"
    )


def test_dropout_drawn_from_another_seed(tmp_path: Path) -> None:
    x, w = torch.rand(4, 8) + 0.5, torch.ones(8, requires_grad=True)
    torch.manual_seed(1)
    capsule = incident(
        tmp_path, lambda: (torch.nn.functional.dropout(x, 0.5) * w).mean(), {"batch[0]": x, "parameter w": w}, rows=4
    )
    losses = [
        attempt(capsule, asked(word)).score.loss for word in ("unchanged", "reseeded=1", "reseeded=1", "reseeded=2")
    ]
    assert losses[1] == losses[2]
    assert len({losses[0], losses[1], losses[3]}) == 3
    assert (
        attempt(log_of(tmp_path / "b", 0.0, 1.0), asked("reseeded")).score.refused
        == "no operator of the step draws random numbers"
    )


@pytest.mark.parametrize("name", ["older-weights", "other-batch", "other-optimizer", "bypass-module"])
def test_what_a_capsule_cannot_hold_is_refused(name: str, tmp_path: Path) -> None:
    refused = attempt(log_of(tmp_path, 0.0, 1.0), asked(name)).score.refused
    assert "is kept in a capsule" in refused or refused.startswith("it needs the live step")


def test_the_capsule_is_the_same_after_a_trial(tmp_path: Path) -> None:
    capsule = log_of(tmp_path, 0.5, 0.0, 2.0)
    for word in ("without-sample", "stable-op", "larger-eps", "reference-device"):
        attempt(capsule, asked(word))
    again = attempt(capsule, asked("unchanged"))
    assert again.score.loss == -math.inf
    assert again.birth is not None and again.birth.rows == (1,)
