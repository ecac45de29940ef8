"""The stable form of every family on a recorded step: sick when unchanged, finite loss and gradients with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import asked
from debugtracer.replay.offline.attempt import attempt, tape_of
from tests.replay.capsules import incident

ZERO = torch.tensor([[0.5, 2.0], [0.0, 1.0]])
ONE = torch.tensor([[0.5, 0.2], [1.0, 0.1]])
NOTHING = torch.tensor([[0.5, 0.1], [-math.inf, -math.inf]])
BELOW = "clamp_min(1e-12) before the root"
CASES: dict[str, tuple[Tensor, Callable[[Tensor, Tensor], Tensor], str]] = {
    "log": (ZERO, lambda x, w: torch.log(x * w).sum(), "clamp_min(1e-06) before the logarithm"),
    "entropy": (ZERO, lambda x, w: (x * w * torch.log(x * w)).sum(), "clamp_min(1e-06) before the logarithm"),
    "log1p": (-ONE, lambda x, w: torch.log1p(x * w).sum(), "clamp_min(-1 + 1e-06) before log1p"),
    "logit": (ONE, lambda x, w: torch.logit(x * w).sum(), "clamp(1e-06, 1 - 1e-06) before logit"),
    "sqrt": (ZERO, lambda x, w: torch.sqrt(x * w).sum(), BELOW),
    "rsqrt": (ZERO, lambda x, w: torch.rsqrt(x * w).sum(), BELOW),
    "div": (ZERO, lambda x, w: (w / (x * w)).sum(), "a divisor of at least 1e-06"),
    "div_": (ZERO, lambda x, w: (w * 1.0 + x).div_(x * w).sum(), "a divisor of at least 1e-06"),
    "div by a number": (ZERO, lambda x, w: (x * w / 0.0).sum(), "a divisor of at least 1e-06"),
    "div by a broadcast": (ZERO, lambda x, w: (x * w / (x[1, 0] * w[0]).expand(2, 2)).sum(),
        "a divisor of at least 1e-06"),
    "reciprocal": (ZERO, lambda x, w: torch.reciprocal(x * w).sum(), "a divisor of at least 1e-06"),
    "acos": (ONE, lambda x, w: torch.acos(x * w).sum(), "clamp(-1 + 1e-06, 1 - 1e-06) before the arc"),
    "atanh": (ONE, lambda x, w: torch.atanh(x * w).sum(), "clamp(-1 + 1e-06, 1 - 1e-06) before the arc"),
    "pow": (ZERO, lambda x, w: torch.pow(x * w, 0.5).sum(), "clamp_min(1e-06) before the power"),
    "exp": (ZERO * 300, lambda x, w: torch.exp(x * w).sum(), "the exponent clamped to half of its range"),
    "norm": (ZERO * 0, lambda x, w: torch.rsqrt(torch.linalg.vector_norm(x * w, dim=1)).sum(), BELOW),
    "softmax": (NOTHING, lambda x, w: (torch.softmax(x + w, 1) * w).sum(), "softmax over rows that keep a score"),
    "log_softmax": (NOTHING, lambda x, w: F.log_softmax(x + w, 1)[:, 0].sum(), "softmax over rows that keep a score"),
    "mean of nothing": (ZERO, lambda x, w: (x * w)[x > 5].mean() + w.sum(), "0 for the mean of nothing"),
    "no target": (ZERO, lambda x, w: F.nll_loss(x * w, torch.full((2,), -100)) + w.sum(),
        "0 for the mean of no target"),
    "layer_norm": (ZERO * 0, lambda x, w: F.layer_norm(x * w, (2,), eps=0.0).sum(),
        "normalised in float32 with eps of at least 1e-05"),
    "group_norm": (ZERO * 0, lambda x, w: F.group_norm(x * w, 1, eps=0.0).sum(),
        "normalised in float32 with eps of at least 1e-05"),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(CASES))
def test_the_stable_form_heals_the_recorded_step(case: str, tmp_path: Path) -> None:
    data, loss, words = CASES[case]
    x, w = data.clone(), torch.ones(2, requires_grad=True)
    capsule = incident(tmp_path, lambda: loss(x, w), {"batch[0]": x, "parameter w": w}, rows=2)
    before, after = attempt(capsule, asked("unchanged")).score, attempt(capsule, asked("stable-op")).score
    assert not before.finite
    assert after.refused == ""
    assert after.finite, after
    assert after.change.startswith(words + " at ")


def test_a_form_that_leaves_every_value_is_refused(tmp_path: Path) -> None:
    q, w = torch.full((1, 1, 3, 4), 1e20), torch.ones(4, requires_grad=True)
    capsule = incident(
        tmp_path,
        lambda: F.scaled_dot_product_attention(q * w, q * w, q).sum(),
        {"batch[0]": q, "parameter w": w},
        rows=1,
    )
    assert not attempt(capsule, asked("unchanged")).score.finite
    refused = attempt(capsule, asked("stable-op")).score.refused
    assert refused.startswith("every value that scaled_dot_product_")
    assert refused.endswith("reads there is one that its stable form leaves as it is")


def test_a_value_inside_the_domain_is_left_as_it_is(tmp_path: Path) -> None:
    x, w = torch.tensor([[4.0], [0.0]]), torch.ones(1, requires_grad=True)
    capsule = incident(tmp_path, lambda: torch.sqrt(x * w).sum(), {"batch[0]": x, "parameter w": w}, rows=2)
    assert attempt(capsule, asked("stable-op")).score.loss == pytest.approx(2.0 + 1e-6)
    assert attempt(capsule, asked("stable-op=0.1")).score.loss == pytest.approx(2.0 + 0.1)


def test_a_square_on_the_guilty_line_is_no_fragile_power(tmp_path: Path) -> None:
    x, w = torch.tensor([[-3.0], [0.0]]), torch.ones(1, requires_grad=True)
    capsule = incident(tmp_path, lambda: torch.sqrt((x * w).pow(2)).sum(), {"batch[0]": x, "parameter w": w}, rows=2)
    assert attempt(capsule, asked("stable-op")).score.loss == pytest.approx(3.0, abs=1e-5)


def test_an_operator_without_a_stable_form_is_refused(tmp_path: Path) -> None:
    x, w = torch.full((2, 2), 1e30), torch.full((2, 2), 1e30, requires_grad=True)
    capsule = incident(tmp_path, lambda: (x @ w).sum(), {"batch[0]": x, "parameter w": w}, rows=2)
    assert attempt(capsule, asked("stable-op")).score.refused == "no stable form of aten::mm is known"


def test_without_the_operator_or_its_line_there_is_nothing_to_change(tmp_path: Path) -> None:
    x, w = torch.tensor([[-3.0], [0.0]]), torch.ones(1, requires_grad=True)
    capsule = incident(tmp_path, lambda: torch.log(x * w).sum(), {"batch[0]": x, "parameter w": w}, rows=2)
    tape = tape_of(capsule)
    birth = tape.birth
    assert birth is not None
    for known in (None, msgspec.structs.replace(birth, op=None), msgspec.structs.replace(birth, frames=())):
        tape.birth = known
        with pytest.raises(ReplayRefused, match="the guilty operator and its line are not known"):
            asked("stable-op").offline(tape)
    tape.birth = birth
    assert asked("stable-op").offline(tape)
