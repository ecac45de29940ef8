"""Hand-written layers recognised by what they compute."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.interventions.standard_forms import agrees, answer, healthy, recognised

BY_HAND = {
    "torch's softmax over dimension -1": (lambda x: x.exp() / x.exp().sum(-1, keepdim=True), [(6, 5)]),
    "torch's log_softmax over dimension -1": (lambda x: torch.log(x.exp() / x.exp().sum(-1, keepdim=True)), [(6, 5)]),
    "torch's logsumexp over dimension -1": (lambda x: x.exp().sum(-1).log(), [(6, 5)]),
    "torch's normalize over dimension -1": (lambda x: x / x.norm(dim=-1, keepdim=True), [(6, 5)]),
    "torch's sigmoid": (lambda x: 1 / (1 + torch.exp(-x)), [(6, 5)]),
    "torch's softplus": (lambda x: torch.log(1 + x.exp()), [(6, 5)]),
    "torch's rms_norm": (lambda x: x / x.pow(2).mean(-1, keepdim=True).sqrt(), [(6, 5)]),
    "torch's batch_norm": (lambda x: (x - x.mean(0)) / x.std(0, unbiased=False), [(6, 5)]),
    "torch's cosine_similarity": (lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)), [(6, 5), (6, 5)]),
    "torch's scaled_dot_product_attention": (
        lambda q, k, v: (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1) @ v,
        [(2, 6, 5)] * 3,
    ),
}


@pytest.mark.parametrize("words", BY_HAND)
def test_each_is_recognised_by_what_it_computes(words):
    by_hand, shapes = BY_HAND[words]
    generator = torch.random.get_rng_state()
    given = [torch.zeros(shape) for shape in shapes]
    found = recognised(by_hand, given, [])
    assert found is not None and found.words == words
    assert torch.equal(torch.random.get_rng_state(), generator)


def test_gain_and_shift_are_told_apart_and_the_unbiased_deviation_is_known():
    gain, shift = nn.Parameter(torch.rand(5) + 1), nn.Parameter(torch.rand(5))
    found = recognised(
        lambda x: shift + gain * (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True),
        [torch.zeros(6, 5)],
        [shift, gain],
    )
    x = torch.randn(6, 5)
    assert found is not None
    torch.testing.assert_close(
        found.run(x), F.layer_norm(x, (5,)) * (4 / 5) ** 0.5 * gain + shift, rtol=1e-3, atol=1e-3
    )


def test_nearly_is_not_the_same():
    assert recognised(lambda x: 1.01 * x.softmax(-1), [torch.zeros(6, 5)], []) is None
    assert recognised(lambda x: x.softmax(-1).round(decimals=2), [torch.zeros(6, 5)], []) is None


def test_healthy_masks_leave_the_first_place_and_hide_the_last_and_whole_numbers_stay():
    mask, ids = torch.ones(4, 5, dtype=torch.bool), torch.tensor([3, 1, 2])
    made, kept = healthy([mask, ids], 0, "normal")
    assert made[:, 0].all() and not made[:, -1].any()
    assert torch.equal(kept, ids) and kept is not ids
    share, wide, normal = (healthy([torch.zeros(2000)], 0, kind)[0] for kind in ("share", "wide", "normal"))
    assert share.min() > 0 and share.max() < 1
    assert torch.allclose(wide, 3 * normal)
    assert normal.std() == pytest.approx(1.0, abs=0.1)


def test_an_answer_is_one_finite_tensor_of_floats():
    given = [torch.ones(2)]
    assert torch.equal(answer(lambda x: x * 2, given), torch.full((2,), 2.0))
    for forward in (lambda x: x / 0, lambda x: (x,), lambda x: x.long(), lambda x: x @ torch.ones(3, 3)):
        assert answer(forward, given) is None


def test_the_same_is_the_same_shape_and_all_but_the_same_numbers():
    wanted = torch.ones(4)
    assert agrees(lambda x: x, [torch.ones(4)], wanted)
    assert agrees(lambda x: x * 1.0009, [torch.ones(4)], wanted)
    assert not agrees(lambda x: x * 1.0012, [torch.ones(4)], wanted)
    assert not agrees(lambda x: x, [torch.ones(1)], wanted)
    assert not agrees(lambda x: x / 0, [torch.ones(4)], wanted)
