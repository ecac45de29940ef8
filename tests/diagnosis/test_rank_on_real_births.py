"""Births of real torch programs, traced and ranked: the whole way from arithmetic to class."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.testing import some_facts

ROWS = 4


def verdict_on(program, batch):
    """The verdict on `program(batch, weight)`: forward and backward, traced."""
    ledger, weight = OpTracker(), torch.full((3,), 1.0, requires_grad=True)
    tracer = OpTracer([ledger])
    tracer.label(batch, "batch[0]")
    tracer.label(weight, "parameter weight")
    with tracer:
        with tracer.entry(0):
            loss = program(batch, weight)
        with tracer.entry(1, direction="backward"):
            (grad,) = torch.autograd.grad(loss, [weight], allow_unused=True)
        targets = [("loss", loss)] if not loss.isfinite() else [("gradient weight", grad)]
        birth = find_birth(ledger, targets, ROWS)
    assert birth is not None
    return rank(some_facts(birth))


def ones(**rows: float) -> Tensor:
    """A batch of ones [4, 3] with some rows set: `ones(r2=0.0)`."""
    batch = torch.ones(ROWS, 3)
    for row, value in rows.items():
        batch[int(row[1:])] = value
    return batch


def masked(x: Tensor, w: Tensor) -> Tensor:
    return (x * w).masked_fill(x == 0, -math.inf).softmax(-1)[:, 0].sum()


def by_hand(x: Tensor, w: Tensor) -> Tensor:
    scores = (x * w).masked_fill(x == 0, -math.inf)
    shifted = scores - scores.max(-1, keepdim=True).values
    return shifted.exp().sum()


def ignored(x: Tensor, w: Tensor) -> Tensor:
    return F.cross_entropy(x * w, torch.full((ROWS,), -100))


def weighted(x: Tensor, w: Tensor) -> Tensor:
    return F.cross_entropy(x * w, torch.tensor([0, 0, 2, 2]), weight=torch.tensor([0.0, 1.0, 0.0]))


def half_product(x: Tensor, w: Tensor) -> Tensor:
    return ((x * w).half() @ (x * 3e4).half().T).float().softmax(-1).log().sum()


def smoothed(x: Tensor, w: Tensor) -> Tensor:
    target = torch.tensor([[0.0, 0.5, 0.5]]).expand(ROWS, 3)
    logits = (x * w).masked_fill(torch.tensor([True, False, False]), -math.inf)
    return -(target * logits.log_softmax(-1)).sum()


PROGRAMS = {
    "log of zero": (lambda x, w: (x * w).log().mean(), ones(r2=0.0), "log_domain", [2]),
    "log of a negative number": (lambda x, w: (x * w).log().mean(), ones(r2=-1.0), "log_domain", [2]),
    "entropy": (lambda x, w: -((x * w) * (x * w).log()).sum(), ones(r1=0.0), "log_domain", [1]),
    "masked row": (masked, ones(r3=0.0), "masked_softmax_all_masked", [3]),
    "masked row by hand": (by_hand, ones(r3=0.0), "masked_softmax_all_masked", [3]),
    "norm": (lambda x, w: ((x * w) / (x * w).norm(dim=-1, keepdim=True)).sum(), ones(r1=0.0), "zero_norm", [1]),
    "root mean square": (
        lambda x, w: ((x * w) / (x * w).pow(2).mean(-1, keepdim=True).sqrt()).sum(),
        ones(r1=0.0),
        "zero_division",
        [1],
    ),
    "masked mean": (lambda x, w: ((x * w).sum(1) / x.sum(1)).mean(), ones(r0=0.0), "zero_division", [0]),
    "reciprocal": (lambda x, w: (w / x).mean(), ones(r0=0.0), "zero_division", [0]),
    "empty mean": (lambda x, w: (x * w)[x > 5].mean(), ones(), "zero_division", None),
    "spread": (
        lambda x, w: ((x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True) * w).sum(),
        torch.arange(12.0).view(4, 3) * ones(r2=0.0),
        "normalisation_zero_std",
        [2],
    ),
    "one value": (lambda x, w: (x * w)[:1].std(0).sum(), ones(), "norm_degenerate_batch", None),
    "power": (lambda x, w: ((x * w) ** 0.5).mean(), ones(r2=-1.0), "pow_domain", [2]),
    "root of a negative number": (lambda x, w: (x * w).sqrt().mean(), ones(r2=-1.0), "function_domain", [2]),
    "exp": (lambda x, w: (x * w).exp().mean(), ones(r2=95.0), "exp_overflow", [2]),
    "half precision": (half_product, ones(r2=4.0), "fp16_overflow", None),
    "ignored labels": (ignored, ones(), "labels_all_ignored", None),
    "class weights": (weighted, ones(), "zero_division", None),
    "sqrt at zero": (lambda x, w: (x * w).pow(2).sum(-1).sqrt().mean(), ones(r2=0.0), "backward_nan_op", [2]),
    "acos at one": (lambda x, w: torch.acos(x * w).mean(), ones(r0=0.5, r1=0.5, r2=0.5), "backward_nan_op", [3]),
    "where": (lambda x, w: torch.where(x > 0, (x * w).log(), w * 0).mean(), ones(r1=0.0), "backward_nan_op", [1]),
    "missing cell": (lambda x, w: (x * w).mean(), ones(r1=math.nan), "data_nonfinite", [1]),
    "overflow": (lambda x, w: ((x * w) * 1e38 * (x * w) * 10).mean(), ones(r1=3.0), "activation_overflow", None),
    "smoothed masked class": (smoothed, ones(), "label_smoothing_misuse", None),
    "layer norm without eps": (
        lambda x, w: F.layer_norm(x, (3,), w, eps=0.0).sum(),
        torch.arange(12.0).view(4, 3) * ones(r2=0.0),
        "norm_eps_underflow",
        [2],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_real_birth_gets_its_class_and_its_rows(name):
    program, batch, kind, rows = PROGRAMS[name]
    verdict = verdict_on(program, batch)
    assert verdict.kind == kind
    assert verdict.cause is not None
    assert verdict.remedy
    if rows is not None:
        assert list(verdict.batch_rows or ()) == rows
