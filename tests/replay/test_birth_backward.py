"""Births in the backward: the forward op whose derivative is bad, its line and module, and what ran then."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.replay.tracing import line_of, trace


@pytest.mark.parametrize(
    ("make", "op"),
    [
        (lambda x: torch.sqrt(x), "aten::sqrt"),
        (lambda x: torch.acos(1 - x), "aten::acos"),
        (lambda x: torch.asin(1 - x), "aten::asin"),
        (lambda x: x**0.5, "aten::pow"),
        (lambda x: torch.where(x > 0, torch.log(x), torch.zeros(())), "aten::log"),
        (lambda x: x.pow(2).sum(-1, keepdim=True).sqrt(), "aten::sqrt"),
        (lambda x: x.var(-1, unbiased=False, keepdim=True).sqrt(), "aten::sqrt"),
    ],
)
def test_the_forward_op_with_the_bad_derivative_is_named(make, op):
    x = torch.rand(4, 3) + 0.1
    x[2] = 0
    x.requires_grad_()
    birth = trace(lambda: make(x).sum(), rows=4, batch0=x)
    assert birth is not None and (birth.op, birth.direction) == (op, "backward"), birth
    assert "make(x)" in line_of(birth) or "lambda" in line_of(birth)
    assert birth.rows == (2,)


@pytest.mark.parametrize(
    "make",
    [lambda x: x.norm(dim=-1), lambda x: x.std(-1), lambda x: F.normalize(x, dim=-1), lambda x: torch.cdist(x, x)],
)
def test_derivatives_that_torch_guards_are_silent(make):
    x = torch.rand(4, 3)
    x[2] = 0
    x.requires_grad_()
    assert trace(lambda: make(x).sum(), rows=4, batch0=x) is None


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        z = x * self.log_scale.exp()
        return torch.where(z > 0, torch.log(z), torch.zeros_like(z))


def test_module_line_and_row_of_a_log_behind_where():
    model = nn.Sequential(nn.Identity(), Scale())
    x = torch.rand(5, 3) + 1
    x[4, 1] = 0
    birth = trace(lambda: model(x).pow(2).mean(), model, rows=5, batch0=x)
    assert birth is not None and (birth.op, birth.backward_op, birth.kind, birth.module, birth.rows) == (
        "aten::log",
        "aten::div",
        "0/0",
        "1",
        (4,),
    )
    assert "torch.log(z)" in line_of(birth)
    assert birth.frames[0].function.endswith("forward")


@pytest.mark.parametrize("reentrant", [True, False])
def test_births_under_checkpointing(reentrant):
    lin = nn.Linear(3, 3)
    x = torch.rand(4, 3) + 0.1

    def inner(h):
        z = h - h[1:2].detach()
        return torch.sqrt(z * z)

    birth = trace(lambda: checkpoint(inner, lin(x), use_reentrant=reentrant).sum(), lin, rows=4, batch0=x)
    assert (
        birth is not None
        and (birth.op, birth.direction) == ("aten::sqrt", "backward")
        and "torch.sqrt" in line_of(birth)
    ), birth
    assert birth.rows == (1,)


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_forward_birth_under_checkpointing_is_found_in_the_first_forward(reentrant):
    lin = nn.Linear(3, 3)
    x = torch.rand(4, 3)
    birth = trace(
        lambda: checkpoint(lambda h: torch.log(h * 0), lin(x), use_reentrant=reentrant).sum(), lin, rows=4, batch0=x
    )
    assert birth is not None and (birth.op, birth.direction) == ("aten::log", "forward")


class HandWritten(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.abs()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x / x.abs()


def test_a_hand_written_backward_is_blamed_at_its_own_line():
    x = torch.tensor([1.0, 0.0, -1.0], requires_grad=True)
    birth = trace(lambda: HandWritten.apply(x).sum(), rows=3, batch0=x)
    assert birth is not None and birth.op == "aten::div" and birth.direction == "backward" and birth.kind == "0/0"
    assert (
        line_of(birth) == "return grad * x / x.abs()"
        and birth.frames[0].function.endswith("backward")
        and birth.rows == (1,)
    )


def test_double_backward_names_the_forward_op_and_line():
    x = torch.tensor([1.0, 0.0, 2.0], requires_grad=True)

    def step():
        (grad,) = torch.autograd.grad((x**1.5).sum(), x, create_graph=True)
        return grad.sum()

    birth = trace(step, rows=3, batch0=x)
    assert (
        birth is not None and birth.direction == "backward" and birth.op == "aten::pow" and "x**1.5" in line_of(birth)
    ), birth


def test_a_gradient_left_bad_from_before_is_an_input():
    model = nn.Linear(3, 1)
    model.weight.grad = torch.full((1, 3), float("nan"))
    birth = trace(lambda: model(torch.randn(2, 3)).sum(), model, **{"weight": model.weight.grad})
    assert birth is not None and birth.kind == "input" and birth.input_name == "gradient weight"


def test_an_overflow_that_where_healed_still_reaches_the_gradient():
    x = torch.tensor([1.0, 200.0], requires_grad=True)
    birth = trace(lambda: torch.where(x < 100, x.exp(), torch.zeros(())).sum(), rows=2, batch0=x)
    assert birth is not None and (birth.op, birth.kind, birth.direction, birth.rows) == (
        "aten::exp",
        "overflow",
        "forward",
        (1,),
    )
    assert any(link.direction == "backward" for link in birth.chain)


def test_gradients_flushed_to_zero_are_counted():
    from debugtracer.replay.op_trace.op_tracer import OpTracer
    from debugtracer.replay.op_trace.op_tracker import OpTracker

    ledger = OpTracker()
    x = torch.full((8,), 1e-4, dtype=torch.float16, requires_grad=True)
    with OpTracer(observers=[ledger]):
        ((x * 1e-4).float().sum() * 1e-5).backward()
    share = ledger.flushed_share
    assert share is not None and share > 0.4
    assert OpTracker().flushed_share is None
