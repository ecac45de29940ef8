"""Births inside optimizer.step, where ops return nothing, and what is in fused ops."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from tests.replay.tracing import trace


def update(dtype: torch.dtype, **options: object):
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)).to(dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, **options)
    for name, p in model.named_parameters():
        p.grad = torch.full_like(p, 1e-5 if name.startswith("1.") else 0.01)
    ledger = OpTracker()
    tracer = OpTracer(observers=[ledger])
    tracer.name_root(model)
    for name, p in model.named_parameters():
        tracer.label(p, f"parameter {name}")
    with tracer, tracer.entry(7, (), direction="update"):
        optimizer.step()
    return find_birth(ledger, targets=[(f"parameter {n}", p) for n, p in model.named_parameters()], batch_rows=4)


@pytest.mark.parametrize("foreach", [True, False])
def test_adam_in_half_divides_by_an_eps_that_is_zero(foreach):
    birth = update(torch.float16, foreach=foreach)
    assert birth is not None and (birth.op, birth.direction, birth.entry) == (
        "aten::addcdiv" if foreach else "aten::addcdiv_",
        "update",
        7,
    )
    assert birth.param == "1.weight" and birth.rows is None and birth.kind == "domain"
    assert birth.inputs[0].name == "parameter 1.weight" and 0.0 in birth.inputs[2].values


def test_a_fused_update_names_its_parameter():
    birth = update(torch.float16, fused=True)
    # fused kernels compute in float32
    assert birth is None or (birth.op == "aten::_fused_adam_" and birth.param == "1.weight")


def test_a_fused_update_that_overflows():
    model = nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e38, fused=True)
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    ledger = OpTracker()
    with OpTracer(observers=[ledger]) as tracer, tracer.entry(0, (), direction="update"):
        for n, p in model.named_parameters():
            tracer.label(p, f"parameter {n}")
        optimizer.step()
        optimizer.step()
    birth = find_birth(ledger, targets=[(f"parameter {n}", p) for n, p in model.named_parameters()])
    assert (
        birth is not None
        and birth.op == "aten::_fused_adamw_"
        and birth.param == "weight"
        and birth.direction == "update"
    )


def test_a_healthy_update_is_silent():
    assert update(torch.float32) is None


def test_scaled_dot_product_attention_shows_its_inside():
    q = torch.randn(2, 1, 4, 8) * 1e25
    birth = trace(lambda: F.scaled_dot_product_attention(q, q, q).sum(), rows=2, batch0=q)
    assert (
        birth is not None
        and "scaled_dot_product" in (birth.op or "")
        and birth.inner_op in ("aten::matmul", "aten::bmm")
    ), birth


def test_layer_norm_without_eps_on_a_constant_row():
    x = torch.randn(4, 6)
    x[3] = 2.0
    birth = trace(lambda: F.layer_norm(x, (6,), eps=0.0).sum(), rows=4, batch0=x)
    assert (
        birth is not None
        and (birth.op, birth.kind, birth.rows) == ("aten::native_layer_norm", "0/0", (3,))
        and birth.inner_op == "aten::rsqrt"
    )


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU])
def test_bad_data_through_a_recurrent_layer(cell):
    model = cell(3, 4, batch_first=True)
    x = torch.randn(5, 6, 3)
    x[2, 1, 0] = float("nan")
    birth = trace(lambda: model(x)[0].sum(), model, rows=5, batch0=x)
    assert birth is not None and birth.input_name == "batch0" and birth.rows == (2,)


def test_autocast_overflow_is_born_in_the_cast():
    x = torch.tensor([[1.0, 2.0], [176533.0, 0.0]])
    model = nn.Linear(2, 2)

    def step():
        with torch.autocast("cpu", dtype=torch.float16):
            return model(x).float().sum()

    birth = trace(step, model, rows=2, batch0=x)
    assert birth is not None and (birth.op, birth.kind, birth.rows, birth.module) == (
        "aten::_to_copy",
        "overflow",
        (1,),
        "",
    )
    assert birth.inputs[0].values == (176533.0,) and birth.output is not None and birth.output.dtype == "float16"
