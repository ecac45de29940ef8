"""The arithmetic behind a bad value."""

from __future__ import annotations

import pytest

from debugtracer.replay.op_trace.kinds import kind_of, masks_by_design, reported, short
from debugtracer.trace.birth import TensorFacts


def at(*values: float) -> TensorFacts:
    return TensorFacts(values=values)


@pytest.mark.parametrize(
    ("op", "nan", "infinite", "inputs", "expected"),
    [
        ("aten::log", False, False, (at(0.0),), "domain"),
        ("aten::sqrt", True, False, (at(-1.0),), "domain"),
        ("aten::exp", False, False, (at(100.0),), "overflow"),
        ("aten::div", False, False, (at(1.0), at(0.0)), "domain"),
        ("aten::div", False, False, (at(1e38), at(1e-3)), "overflow"),
        ("aten::div", True, False, (at(0.0), at(0.0)), "0/0"),
        ("aten::reciprocal", False, False, (at(0.0),), "domain"),
        ("aten::_foreach_addcdiv_", False, False, (at(1.0), at(1.0), at(0.0)), "domain"),
        ("aten::mul", True, True, (at(0.0), at(float("inf"))), "0*inf"),
        ("aten::sub", True, True, (at(float("inf")), at(float("inf"))), "inf-inf"),
        ("aten::_softmax", True, True, (at(-float("inf")),), "inf-inf"),
        ("aten::sin", True, True, (at(float("inf")),), "domain"),
        ("aten::mean", True, False, (at(),), "0/0"),
        ("aten::mm", True, False, (at(), at()), "overflow"),
        ("aten::pow", False, False, (at(10.0),), "overflow"),
        ("aten::pow", False, False, (at(0.0),), "domain"),
        ("aten::_fused_adam_", True, False, (), "0/0"),
    ],
)
def test_the_op_and_its_values_tell_the_kind(op, nan, infinite, inputs, expected):
    assert kind_of(op, nan, infinite, inputs) == expected


@pytest.mark.parametrize(
    ("op", "high", "dtype", "expected"),
    [
        ("aten::native_layer_norm", 3.5e34, "float32", "overflow"),
        ("aten::native_layer_norm", 3.5e34, "bfloat16", "overflow"),
        ("aten::native_layer_norm", 3.5e34, "float64", "0/0"),
        ("aten::native_batch_norm", 4.0, "float32", "0/0"),
        ("aten::std", 2e19, "float32", "overflow"),
        ("aten::mean", 2e19, "float32", "0/0"),
    ],
)
def test_a_norm_whose_squares_leave_the_range_overflows(op, high, dtype, expected):
    assert kind_of(op, True, False, (TensorFacts(low=-1.0, high=high, dtype=dtype),)) == expected


def test_an_underflow_in_a_fused_half_update_is_outside_the_domain():
    assert [kind_of("aten::_fused_adam_", False, False, (), half_update=half) for half in (True, False)] == [
        "domain",
        "overflow",
    ]


def test_list_ops_are_reported_as_the_op_of_one_tensor():
    assert [reported(op) for op in ("aten::_foreach_addcdiv_", "aten::_softmax", "aten::add_")] == [
        "aten::addcdiv",
        "aten::_softmax",
        "aten::add_",
    ]
    assert [short(op) for op in ("aten::_foreach_div_", "aten::_log_softmax", "aten::_native_batch_norm_legit")] == [
        "div",
        "log_softmax",
        "native_batch_norm_legit",
    ]


def test_minus_infinity_means_leave_out_for_softmax_and_attention_only():
    ops = ("aten::_softmax", "aten::_scaled_dot_product_flash_attention_for_cpu", "aten::logsumexp", "aten::mm")
    assert [masks_by_design(op) for op in ops] == [True, True, True, False]
