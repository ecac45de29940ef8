"""The numbers of one tensor, beside what torch says of the whole."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.observers.numerics.even_sample import MOST
from debugtracer.observers.numerics.tensor_health import (
    BINS,
    dead_share,
    health_of,
    healths_of,
    histograms,
    l2_of,
    l2s_of,
    sample_of,
    saturated_share,
)
from debugtracer.trace.facts.health import LOWEST


def test_a_small_tensor_is_looked_at_whole():
    x = torch.tensor([[-2.0, 0.0, 1.0], [4.0, 0.0, 3.0]])
    row = health_of("w", "weight", x)
    assert (row.mean, row.low, row.high, row.zero_share, row.bad, row.sampled) == (1.0, -2.0, 4.0, 0.333333, 0, 6)
    assert row.std == pytest.approx(x.std(correction=0).item())
    assert row.l2 == pytest.approx(x.norm().item())
    assert sum(row.bins) == 4


def test_a_large_one_by_an_even_sample_and_its_norm_by_all():
    x = torch.randn(40 * MOST, generator=torch.Generator().manual_seed(0))
    row = health_of("w", "weight", x)
    assert MOST <= row.sampled <= MOST + 1
    assert row.std == pytest.approx(1.0, abs=0.03)
    assert row.l2 == pytest.approx(x.norm().item(), rel=1e-4)


def test_what_is_not_finite_is_counted_and_left_out():
    row = health_of("w", "weight", torch.tensor([1.0, math.nan, math.inf, 3.0]))
    assert (row.bad, row.mean, row.high) == (2, 2.0, 3.0)
    assert row.l2 == "NaN"
    assert health_of("w", "weight", torch.full((3,), math.nan)).mean == 0.0


def test_a_norm_that_overflows_in_float32_is_taken_again():
    assert l2_of(torch.full((4,), 1e30)) == pytest.approx(2e30, rel=1e-5)


def test_integers_and_empty_tensors_have_no_row():
    assert health_of("ids", "activation", torch.arange(4)) is None
    assert health_of("none", "activation", torch.empty(0)) is None
    assert sample_of(torch.empty(0)) is None


def test_the_histogram_counts_powers_of_two():
    (counts,) = histograms(torch.tensor([[1.0, -1.5, 2.0, 1e-30, 1e30, 0.5, 0.0]]))
    assert len(counts) == BINS
    assert {i + LOWEST - 1: n for i, n in enumerate(counts) if n} == {LOWEST - 1: 1, -1: 1, 0: 2, 1: 1, 16: 1}


def test_a_unit_is_dead_when_it_is_zero_on_every_row():
    assert dead_share(torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])) == pytest.approx(2 / 3, abs=1e-5)
    image = torch.zeros(2, 4, 3, 3)
    image[1, 2, 0, 0] = 1.0
    assert dead_share(image) == 0.75
    assert dead_share(torch.zeros(1, 3)) is None


def test_saturation_is_known_for_functions_that_squash():
    assert saturated_share("tanh", torch.tensor([0.999, 0.5])) == 0.5
    assert saturated_share("sigmoid", torch.tensor([0.001, 0.5, 0.995, 0.4])) == 0.5
    assert saturated_share("relu", torch.zeros(2)) is None


def test_no_random_number_is_drawn():
    state = torch.get_rng_state()
    health_of("w", "weight", torch.ones(100_000))
    assert torch.equal(state, torch.get_rng_state())


def test_many_say_what_each_says_alone_with_norms_that_were_read():
    named = [
        ("a", torch.tensor([[-2.0, 0.0, 1.0], [4.0, 0.0, 3.0]])),
        ("ids", torch.arange(6)),
        ("b", torch.tensor([1.0, math.nan, math.inf, 3.0, 0.0, -1.0])),
        ("c", torch.full((6,), math.nan)),
        ("d", torch.tensor([1.0, 2.0], dtype=torch.float64)),
        ("e", torch.tensor([1e-3, 2.0, 3.0, 1e-30, 7e4, 0.5])),
    ]
    alone = [row for name, t in named if (row := health_of(name, "weight", t)) is not None]
    assert healths_of("weight", named) == alone
    assert [row.l2 for row in healths_of("weight", named, [7.0] * 6)] == [7.0] * 5


def test_norms_of_many_are_those_of_each():
    tensors = [torch.full((4,), 1e30), torch.ones(9)]
    assert l2s_of(tensors) == [l2_of(t) for t in tensors]
    assert l2s_of([*tensors, torch.ones(4, dtype=torch.float16)])[1:] == [3.0, 2.0]
    assert l2s_of([]) == []
