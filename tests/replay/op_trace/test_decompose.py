"""The op inside a fused op."""

from __future__ import annotations

import pytest
import torch

from debugtracer.replay.op_trace.decompose import composed, inner_op
from debugtracer.replay.op_trace.op_tracker import OpTracker

aten = torch.ops.aten
INF = float("inf")


def inside(func, *args):
    return inner_op(func, args, {}, OpTracker, {})


def test_a_softmax_over_nothing_but_masks_fails_in_its_subtraction():
    assert inside(aten._softmax.default, torch.full((2, 3), -INF), -1, False) == "aten::sub"


def test_a_finite_result_and_an_op_without_parts_have_no_inside():
    assert inside(aten._softmax.default, torch.ones(2, 3), -1, False) is None
    assert inside(aten.log.default, torch.zeros(2)) is None


def test_the_inputs_from_before_are_used_and_left_as_they_are():
    x = torch.ones(2, 3)
    before = torch.full((2, 3), -INF)
    assert inner_op(aten._softmax.default, (x, -1, False), {}, OpTracker, {id(x): before}) == "aten::sub"
    assert bool((x == 1).all()) and bool((before == -INF).all())


@pytest.mark.parametrize("causal", [True, False])
def test_attention_by_its_parts_is_attention(causal):
    q, k, v = (torch.randn(2, 2, 5, 4) for _ in range(3))
    fused = aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, causal)[0]
    assert torch.allclose(
        composed(aten._scaled_dot_product_flash_attention_for_cpu.default, (q, k, v, 0.0, causal), {}), fused, atol=1e-5
    )
