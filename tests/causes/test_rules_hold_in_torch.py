"""What the causes claim about PyTorch, asked of PyTorch itself."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.causes.backward_nan_op import EDGES
from debugtracer.causes.incident_evidence import EXP_LIMIT, LARGEST, SMALLEST

ZERO, ONE = torch.tensor([0.0]), torch.tensor([1.0])
AT_THE_EDGE = {
    "sqrt": (torch.sqrt, ZERO),
    "pow": (lambda x: x**0.5, ZERO),
    "acos": (torch.acos, ONE),
    "asin": (torch.asin, ONE),
    "acosh": (torch.acosh, ONE),
    "hypot": (lambda x: torch.hypot(x, x), ZERO),
    "log": (lambda x: torch.where(x > 0, torch.log(x), 0.0), ZERO),
    "xlogy": (lambda x: torch.xlogy(x, x), ZERO),
    "special_entr": (torch.special.entr, ZERO),
    "linalg_svd": (lambda x: torch.linalg.svd(x)[0], torch.eye(2)),
    "linalg_eigh": (lambda x: torch.linalg.eigh(x)[1], torch.eye(2)),
}
SAFE = {
    "sqrt": (lambda x: torch.sqrt(x + 1e-12), ZERO),
    "rsqrt": (lambda x: torch.rsqrt(x + 1e-6), ZERO),
    "pow": (lambda x: x.clamp_min(1e-8) ** 0.5, ZERO),
    "acos": (lambda x: torch.acos(x.clamp(-1 + 1e-6, 1 - 1e-6)), ONE),
    "asin": (lambda x: torch.asin(x.clamp(-1 + 1e-6, 1 - 1e-6)), ONE),
    "acosh": (lambda x: torch.acosh(x.clamp_min(1 + 1e-6)), ONE),
    "hypot": (lambda x: torch.sqrt(x * x + x * x + 1e-12), ZERO),
    "log": (lambda x: torch.where(x > 0, torch.log(torch.where(x > 0, x, 1)), 0.0), ZERO),
    "xlogy": (lambda x: x * x.clamp_min(1e-8).log(), ZERO),
    "special_entr": (lambda x: -(x * x.clamp_min(1e-8).log()), ZERO),
    "norm": (lambda x: x.norm(), torch.zeros(3)),
    "std": (lambda x: x.std(), torch.ones(3)),
    "normalize": (lambda x: torch.nn.functional.normalize(x, dim=-1), torch.zeros(3)),
    "empty selection": (lambda x: (x * 0).sum() / (x * 0).sum().clamp_min(1), torch.ones(3)),
}


def value_and_gradient(function, at):
    x = at.clone().requires_grad_()
    y = function(x)
    y.sum().backward()
    return y.detach(), x.grad


@pytest.mark.parametrize("name", AT_THE_EDGE)
def test_the_value_is_finite_and_the_derivative_is_not(name):
    assert name in EDGES
    value, gradient = value_and_gradient(*AT_THE_EDGE[name])
    assert value.isfinite().all()
    assert not gradient.isfinite().all()


@pytest.mark.parametrize("name", SAFE)
def test_the_remedy_is_finite_in_both_directions(name):
    value, gradient = value_and_gradient(*SAFE[name])
    assert value.isfinite().all()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_limits_of_the_dtypes(dtype):
    kind = getattr(torch, dtype)
    assert torch.finfo(kind).max == pytest.approx(LARGEST[dtype], rel=1e-2)
    assert math.log(LARGEST[dtype]) == pytest.approx(EXP_LIMIT[dtype], rel=1e-3)
    assert torch.tensor(SMALLEST[dtype], dtype=kind).item() > 0
    assert torch.tensor(SMALLEST[dtype] / 2, dtype=kind).item() == 0


def test_a_masked_row_is_nan_and_a_large_finite_mask_is_not():
    scores = torch.zeros(1, 3)
    hidden = torch.ones(1, 3, dtype=torch.bool)
    assert scores.masked_fill(hidden, -math.inf).softmax(-1).isnan().all()
    assert scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(-1).isfinite().all()


def test_the_mean_loss_of_ignored_targets_is_nan_and_the_clamped_one_is_not():
    logits, target = torch.randn(4, 3), torch.full((4,), -100)
    assert torch.nn.functional.cross_entropy(logits, target).isnan()
    total = torch.nn.functional.cross_entropy(logits, target, reduction="sum")
    assert (total / (target != -100).sum().clamp_min(1)).item() == 0


def test_adam_in_float16_divides_by_zero_with_its_default_eps_and_not_with_the_remedy():
    def updated(eps):
        weight = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
        weight.grad = torch.full((2,), 1e-5, dtype=torch.float16)
        torch.optim.Adam([weight], eps=eps).step()
        return weight.detach()

    assert not updated(1e-8).isfinite().all()
    assert updated(1e-4).isfinite().all()
