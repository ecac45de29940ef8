"""The epsilons of recorded normalisations raised."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from debugtracer.interventions.eps_rows import positions
from debugtracer.interventions.intervention import asked
from debugtracer.replay.offline.attempt import attempt
from tests.replay.capsules import incident


def own_rms(x: Tensor, eps: float) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


@pytest.mark.parametrize(
    "normalise",
    [
        lambda x: F.layer_norm(x, (4,), eps=0.0),
        lambda x: F.group_norm(x, 1, eps=0.0),
        lambda x: F.rms_norm(x, (4,), eps=0.0),
        lambda x: own_rms(x, 0.0),
    ],
    ids=["layer", "group", "rms", "own rms"],
)
def test_a_normalisation_of_equal_values(normalise: object, tmp_path: Path) -> None:
    x, w = torch.zeros(3, 4), torch.ones(4, requires_grad=True)
    assert callable(normalise)
    capsule = incident(
        tmp_path, lambda: (normalise(x * w) * torch.arange(4)).sum(), {"batch[0]": x, "parameter w": w}, rows=3
    )
    assert not attempt(capsule, asked("unchanged")).score.finite
    after = attempt(capsule, asked("larger-eps=1e-3")).score
    assert after.finite, after
    assert after.change == "eps of 1 normalisation raised to 0.001"


def test_batch_norm_with_another_eps_is_what_torch_computes(tmp_path: Path) -> None:
    x, w, weigh = torch.randn(6, 4), torch.ones(4, requires_grad=True), torch.randn(6, 4)

    def loss(eps: float) -> Tensor:
        return (F.batch_norm(x * w, None, None, training=True, eps=eps) * weigh).sum()

    capsule = incident(tmp_path, lambda: loss(1e-5), {"batch[0]": x, "parameter w": w}, rows=6)
    wide = loss(0.5)
    (gradient,) = torch.autograd.grad(wide, w)
    score = attempt(capsule, asked("larger-eps=0.5")).score
    assert score.loss == pytest.approx(float(wide.detach()), rel=1e-5)
    assert score.grad_l2 == pytest.approx(float(gradient.norm()), rel=1e-4)


def test_an_eps_that_is_large_enough_stays(tmp_path: Path) -> None:
    x, w = torch.randn(3, 4), torch.ones(4, requires_grad=True)
    capsule = incident(tmp_path, lambda: own_rms(x * w, 5e-3).sum(), {"batch[0]": x, "parameter w": w}, rows=3)
    same, other = (attempt(capsule, asked(word)).score.loss for word in ("larger-eps=1e-4", "larger-eps=0.5"))
    assert same == attempt(capsule, asked("unchanged")).score.loss
    assert other != same


def test_a_step_without_an_eps_is_refused(tmp_path: Path) -> None:
    x, w = torch.zeros(3, 4), torch.ones(4, requires_grad=True)
    capsule = incident(tmp_path, lambda: torch.log(x * w).sum(), {"batch[0]": x, "parameter w": w}, rows=3)
    assert attempt(capsule, asked("larger-eps")).score.refused == "no recorded operator of the step has an eps"


def test_arguments_are_named_by_the_schema() -> None:
    assert positions("aten::native_layer_norm.default")[4] == "eps"
    assert positions("aten::no_such_operator.default") == ()
