"""Births in the forward: the op, its kind, its line, its rows and the values it read."""

import ctypes

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.replay.tracing import line_of, trace

torch.manual_seed(0)


def test_log_of_zero_is_the_birth_even_when_a_product_turns_it_into_nan():
    p = torch.rand(6, 4).clamp(0.1).requires_grad_()
    with torch.no_grad():
        p[3, 1] = 0.0

    def step():
        logs = torch.log(p)
        return (p * logs).mean()

    birth = trace(step, rows=6, batch0=p)
    assert birth is not None and (birth.op, birth.kind, birth.direction) == ("aten::log", "domain", "forward")
    assert "torch.log(p)" in line_of(birth) and birth.rows == (3,)
    assert birth.inputs[0].values == (0.0,) and birth.coordinates == ((3, 1),)
    assert [link.op for link in birth.chain][:2] == ["aten::log", "aten::mul"]


@pytest.mark.parametrize(
    ("make", "op", "kind"),
    [
        (lambda x: x / x.abs().floor(), "aten::div", "domain"),
        (lambda x: (x * 0) / (x * 0), "aten::div", "0/0"),
        (lambda x: (x * 200).exp(), "aten::exp", "overflow"),
        (lambda x: torch.sqrt(-x), "aten::sqrt", "domain"),
        (lambda x: (-x) ** 0.5, "aten::pow", "domain"),
        (lambda x: torch.acos(x + 3), "aten::acos", "domain"),
        (lambda x: (x * 0) ** -1.0, "aten::pow", "domain"),
        (lambda x: (x + 1e20) ** 2.0, "aten::pow", "overflow"),
        (lambda x: x[:0].mean(), "aten::mean", "0/0"),
        (lambda x: x[:1, :1].std(), "aten::std", "0/0"),
        (lambda x: (x * 1e30) @ (x.T * 1e30), "aten::mm", "overflow"),
        (lambda x: (x * 1e6).half(), "aten::_to_copy", "overflow"),
        (lambda x: torch.logit(x * 0), "aten::logit", "domain"),
        (lambda x: (x * 0 + 3e38).sum(), "aten::sum", "overflow"),
        (lambda x: torch.digamma(x * 0), "aten::digamma", "domain"),
        (lambda x: torch.complex(x * 1e38, x) * torch.complex(x * 1e38, x), "aten::mul", "overflow"),
    ],
)
def test_the_kind_of_a_birth(make, op, kind):
    x = torch.full((4, 3), 0.7)
    out = []

    def step():
        y = make(x)
        out.append(y)
        return torch.view_as_real(y).sum() if y.is_complex() else y.float().sum()

    birth = trace(step, batch0=x)
    assert birth is not None and (birth.op, birth.kind) == (op, kind)
    assert "make(x)" in line_of(birth) or "lambda" in line_of(birth)


def test_a_fully_masked_row_is_a_softmax_birth_and_the_mask_is_not():
    x = torch.randn(4, 5)
    mask = torch.zeros(4, 5, dtype=torch.bool)
    mask[:, 3:] = True
    mask[2] = True
    birth = trace(lambda: torch.softmax(x.masked_fill(mask, float("-inf")), -1).sum(), rows=4, batch0=x)
    assert birth is not None and (birth.op, birth.kind, birth.rows) == ("aten::_softmax", "inf-inf", (2,))
    assert set(birth.inputs[0].values) == {"-Infinity"} and birth.inner_op == "aten::sub"
    assert birth.inputs[0].made_by == "aten::masked_fill"


@pytest.mark.parametrize(
    "mask",
    [
        lambda x, m: x.masked_fill(m, float("-inf")),
        lambda x, m: torch.where(m, float("-inf"), x),
        lambda x, m: x + torch.zeros_like(x).masked_fill_(m, float("-inf")),
        lambda x, m: x + torch.log((~m).float()),
        lambda x, m: x.masked_fill(m, torch.finfo(x.dtype).min),
        lambda x, m: x + torch.full((4, 5), float("-inf")).triu(1),
        lambda x, m: torch.where(m, torch.tensor(float("-inf")), x),
        lambda x, m: x.index_fill(1, torch.tensor([4]), float("-inf")),
    ],
)
def test_a_deliberate_infinity_that_leaves_a_live_key_is_silent(mask):
    x = torch.randn(4, 5, requires_grad=True)
    hidden = torch.zeros(4, 5, dtype=torch.bool)
    hidden[:, 3:] = True
    assert trace(lambda: torch.log_softmax(mask(x, hidden), -1)[:, 0].sum(), batch0=x) is None


def test_item_assignment_of_minus_infinity_is_deliberate():
    x = torch.randn(4, 5)

    def step(rows):
        y = x.clone()
        y[rows] = float("-inf")
        return y.softmax(-1)[:2].sum()

    assert trace(lambda: step((slice(None), 4)), batch0=x) is None
    birth = trace(lambda: step(slice(1, 2)), batch0=x, rows=4)
    assert birth is not None and birth.op == "aten::_softmax" and birth.rows == (1,)


def test_a_mask_in_the_batch_is_read_as_a_mask_and_log_of_silence_as_bad_data():
    x = torch.randn(3, 4)
    bias = torch.zeros(3, 4)
    bias[1] = float("-inf")
    birth = trace(lambda: (x + bias).softmax(-1).sum(), rows=3, batch0=x, batch1=bias)
    assert birth is not None and birth.op == "aten::_softmax" and birth.rows == (1,)
    features = torch.randn(3, 4)
    features[2, 1] = float("-inf")
    weight = torch.randn(4, 4)
    weight[1] = 0
    found = trace(lambda: (features @ weight).sum(), rows=3, batch0=features)
    assert found is not None and found.kind == "input" and found.input_name == "batch0" and found.rows == (2,)


@pytest.mark.parametrize(
    "loss",
    [
        lambda x, y: F.mse_loss(x[y != 0], y[y != 0]),
        lambda x, y: (x - y).abs().mean(),
        lambda x, y: F.l1_loss(x, y.clone(), reduction="none").sum(1).mean(),
    ],
)
def test_a_target_that_is_minus_infinity_is_bad_data_where_a_loss_reads_it(loss):
    x, y = torch.randn(5, 3), torch.randn(5, 3)
    y[3, 1] = float("-inf")
    birth = trace(lambda: loss(x, y), rows=5, batch0=x, batch1=y)
    assert birth is not None and (birth.kind, birth.input_name, birth.rows) == ("input", "batch1", (3,))


@pytest.mark.parametrize(
    "loss",
    [
        lambda x, bias: F.nll_loss((x + bias).log_softmax(-1), torch.tensor([0, 1, 2])),
        lambda x, bias: F.cross_entropy(x.add(bias), torch.tensor([0, 1, 2])),
        lambda x, bias: (x + bias).square().mean(),
        lambda x, bias: -((x + bias) - (x + bias).exp().sum(1, keepdim=True).log())[:, 1].mean(),
    ],
    ids=["picked", "a loss", "z-loss", "a softmax written out"],
)
def test_a_mask_of_the_batch_is_not_to_blame_for_what_reads_the_masked(loss):
    x, bias = torch.randn(3, 4), torch.zeros(3, 4)
    bias[:, 1] = float("-inf")
    birth = trace(lambda: loss(x, bias), rows=3, batch0=x, batch1=bias)
    assert birth is not None and birth.kind != "input"


def test_bad_data_is_named_with_rows_and_coordinates():
    x = torch.randn(5, 3)
    x[1, 2] = x[4, 0] = float("nan")
    model = nn.Linear(3, 2)
    birth = trace(lambda: model(x).pow(2).mean(), model, rows=5, batch0=x)
    assert (
        birth is not None
        and birth.op is None
        and (birth.kind, birth.direction, birth.input_name) == ("input", "input", "batch0")
    )
    assert birth.rows == (1, 4) and birth.coordinates == ((1, 2), (4, 0))


def test_a_bad_parameter_is_an_input_without_rows():
    model = nn.Linear(3, 2)
    with torch.no_grad():
        model.weight[0, 0] = float("nan")
    x = torch.randn(5, 3)
    birth = trace(lambda: model(x).mean(), model, rows=5, batch0=x)
    assert (
        birth is not None
        and birth.input_name == "parameter weight"
        and birth.rows is None
        and birth.coordinates == ((0, 0),)
    )


def test_all_labels_ignored_is_zero_by_zero_of_every_row():
    x = torch.randn(4, 3, requires_grad=True)
    birth = trace(lambda: F.cross_entropy(x, torch.full((4,), -100)), rows=4, batch0=x)
    assert (
        birth is not None and (birth.op, birth.kind) == ("aten::nll_loss_forward", "0/0") and birth.rows == (0, 1, 2, 3)
    )
    target = next(t for t in birth.inputs if t.dtype == "int64")
    assert (target.low, target.high) == (-100, -100)


def test_a_quotient_of_two_sums_is_zero_by_zero():
    x, weight = torch.randn(4, requires_grad=True), torch.zeros(4)
    birth = trace(lambda: (x * weight).sum() / weight.sum(), rows=4, batch0=x, batch1=weight)
    assert birth is not None and (birth.op, birth.kind, birth.rows) == ("aten::div", "0/0", (0, 1, 2, 3))
    assert birth.inputs[1].made_by == "aten::sum"


def test_a_healed_infinity_is_not_blamed():
    x = torch.tensor([0.0, 1.0, 2.0])
    assert trace(lambda: torch.where(x > 0, torch.log(x), torch.zeros(())).sum(), batch0=x) is None
    assert trace(lambda: torch.log(x).masked_fill(x == 0, 0.0).sum(), batch0=x) is None
    assert trace(lambda: torch.log(x).argmin().float(), batch0=x) is None


def test_healed_memory_written_again_is_not_blamed():
    x = torch.tensor([0.0, 1.0])

    def step():
        y = torch.log(x)
        y.zero_()
        return (y / y).sum()

    birth = trace(step, batch0=x)
    assert birth is not None and birth.op == "aten::div"


def test_memory_never_written_is_uninitialised_and_memory_overwritten_is_not():
    junk = torch.full((64,), float("nan"))

    def step(fill):
        y = torch.empty_like(junk).view(8, 8)
        ctypes.memmove(y.data_ptr(), junk.data_ptr(), 256)  # what an allocator may leave there, unseen by the tracer
        if fill:
            for i in range(8):
                y[:, i] = 1.0
        return (y * 2).sum()

    birth = trace(lambda: step(False))
    assert birth is not None and (birth.kind, birth.op) == ("uninitialised", "aten::mul")
    assert trace(lambda: step(True)) is None


def test_an_in_place_op_shows_the_values_it_read():
    x = torch.tensor([4.0, 0.0, -2.0])
    birth = trace(lambda: x.clone().sqrt_().sum(), rows=3, batch0=x)
    assert birth is not None and birth.op == "aten::sqrt_" and birth.inputs[0].values == (-2.0,) and birth.rows == (2,)


def test_rows_of_flattened_and_transposed_batches_and_of_heads():
    x = torch.rand(4, 6, 3) + 1
    x[2, 5, 1] = 0
    for view, op in [(x.reshape(24, 3), "log"), (x.transpose(0, 1), "log"), (x.repeat_interleave(2, 0), "log")]:
        birth = trace(lambda v=view: torch.log(v).sum(), rows=4, batch0=x)
        assert birth is not None and birth.op == f"aten::{op}" and birth.rows == (2,)


def test_every_guilty_row_is_told_and_two_calls_of_one_line_are_united():
    x = torch.rand(40, 3) + 1
    x[::3] = 0
    birth = trace(lambda: torch.log(x).sum(), rows=40, batch0=x)
    assert birth is not None and birth.rows == tuple(range(0, 40, 3)) and len(birth.coordinates) == 8


def test_the_deliberate_infinity_that_reaches_the_loss_is_a_birth():
    scores = torch.randn(3, 4).masked_fill(torch.eye(3, 4, dtype=torch.bool), float("-inf"))
    del scores
    x = torch.randn(3, 4, requires_grad=True)
    birth = trace(
        lambda: F.cross_entropy(x.masked_fill(torch.eye(3, 4, dtype=torch.bool), float("-inf")), torch.arange(3)),
        rows=3,
        batch0=x,
    )
    assert birth is not None and birth.op == "aten::nll_loss_forward"


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: x,
        lambda x: x[4:],
        lambda x: x[1::2],
        lambda x: x[torch.tensor([6, 5, 0])],
        lambda x: x[x[:, 1] > 0.5],
        lambda x: x.flip(0),
        lambda x: x.roll(3, 0),
        lambda x: torch.cat([x[4:], x[:4]]),
        lambda x: x.repeat(2, 1),
        lambda x: torch.stack([x, x], 1).flatten(0, 1),
    ],
)
def test_the_row_is_that_of_the_batch_whatever_part_of_it_the_step_works_on(cut):
    x = torch.ones(8, 3)
    x[5, 2] = -1.0
    birth = trace(lambda: torch.log(cut(x) * 1.0).mean(), rows=8, batch0=x)
    assert birth is not None and (birth.op, birth.rows) == ("aten::log", (5,))


def test_no_row_is_named_where_rows_of_several_samples_were_mixed():
    x = torch.ones(8, 3)
    x[5, 2] = -3.0
    assert trace(lambda: torch.log(x + x.flip(0)).mean(), rows=8, batch0=x).rows is None
