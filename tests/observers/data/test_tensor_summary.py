"""One look at a tensor of a batch."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.observers.data.tensor_summary import (
    blank_rows,
    content_of,
    cut_images,
    cut_share,
    divergence,
    entropy_of,
    lines_of,
    look_at,
    moments,
    ranges,
    readable,
    thinned,
)


def test_a_table_of_floats():
    x = torch.tensor([[1.0, 5.0], [3.0, 5.0]])
    look = look_at(x)
    assert (look.role, look.rows, look.mean, look.low, look.high, look.channels, look.still) == (
        "float",
        2,
        3.5,
        1.0,
        5.0,
        2,
        (1,),
    )
    assert look.std == pytest.approx(float(x.std(correction=0)))
    assert (look.row_low, look.row_high) == ([1.0, 3.0], [5.0, 5.0])


@pytest.mark.parametrize(
    ("shape", "dim"), [((6, 3, 4, 5), 1), ((6, 30, 4), 2), ((6, 4, 30), 1), ((6, 7), 1), ((6,), None)]
)
def test_the_channel_dimension(shape, dim):
    assert ranges(torch.randn(shape))[0] == dim


@pytest.mark.parametrize("shape", [(6, 3, 4, 5), (6, 30, 4), (6, 4, 30), (6, 7), (6,), (1, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_ranges_and_moments_are_those_of_torch(shape, dtype):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    look = look_at(x)
    flat = x.double().reshape(shape[0], -1)
    assert (look.low, look.high, look.row_low, look.row_high) == (
        flat.min(),
        flat.max(),
        flat.amin(1).tolist(),
        flat.amax(1).tolist(),
    )
    assert look.mean == pytest.approx(float(flat.mean()), abs=1e-2)
    assert look.std == pytest.approx(float(flat.std(correction=0)), abs=1e-2)


def test_a_constant_plane_is_still():
    x = torch.rand(4, 3, 5, 5)
    x[:, 1] = 0.5
    assert look_at(x).still == (1,)


def test_where_non_finite_values_are():
    x = torch.ones(4, 3)
    x[2, 1], x[3, 0] = math.nan, math.inf
    look = look_at(x)
    assert (look.nonfinite, look.bad_rows, look.minus_inf_only, look.mean, look.high) == (2, (2, 3), False, 1.0, 1.0)


def test_an_additive_mask_is_told_apart():
    x = torch.zeros(4, 3)
    x[1, 2] = -math.inf
    assert look_at(x).minus_inf_only


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (torch.tensor([0, 2, 1]), "label"),
        (torch.tensor([[0], [2]]), "label"),
        (torch.tensor([[5, 9], [1, 2]]), "ids"),
        (torch.tensor([[1, 0], [1, 1]]), "mask"),
        (torch.tensor([True, False]), "mask"),
        (torch.randint(0, 255, (2, 3, 4, 4), dtype=torch.uint8), "float"),
    ],
)
def test_the_role_of_integers(values, role):
    assert look_at(values).role == role


def test_histograms_of_labels_and_tokens():
    assert look_at(torch.tensor([3, 5, 5])).counts.tolist() == [1, 0, 2]
    tokens = look_at(torch.tensor([[1, 257, 300], [1, 2, 3]])).counts
    assert (tokens.numel(), tokens[1], tokens[44]) == (256, 3, 1)


def test_what_cannot_be_read_is_left_alone():
    assert not readable(torch.tensor(1.0))
    assert not readable(torch.empty(0, 3))
    assert not readable(torch.zeros(2, dtype=torch.complex64))
    assert not readable(torch.eye(3).to_sparse())
    assert not readable(torch.empty(2, 3, device="meta"))
    assert readable(torch.zeros(2, dtype=torch.uint8))


def test_content_tells_batches_apart_and_knows_equal_ones():
    x = torch.randn(64, 500)
    assert content_of(x) == content_of(x.clone())
    assert content_of(x) != content_of(x.flip(0))
    assert content_of(x)[0] == (64, 500)


def test_large_tensors_are_thinned():
    assert thinned(torch.zeros(100, 100), 50).numel() == 50
    assert thinned(torch.zeros(100, 100).t(), 50).numel() <= 200
    assert moments(torch.full((5,), 1e8))[1] == 0.0


def test_blank_rows_need_some_width():
    x = torch.rand(3, 20)
    x[1] = 0.7
    assert blank_rows(look_at(x), 20) == (1,)
    assert blank_rows(look_at(x[:, :8]), 8) == ()


def test_entropy_and_divergence():
    assert entropy_of(torch.tensor([8, 8])) == pytest.approx(math.log(2))
    assert entropy_of(torch.tensor([8, 0])) == 0.0
    assert divergence(torch.tensor([500, 500]), torch.tensor([5000, 5000])) == pytest.approx(0.0, abs=1e-6)
    assert divergence(torch.tensor([0, 8]), torch.tensor([1000, 0])) > 5


def test_nothing_is_changed_and_nothing_drawn():
    x, state = torch.randn(8, 5), torch.get_rng_state()
    before = x.clone()
    look_at(x)
    assert torch.equal(x, before)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("kind", [torch.float32, torch.uint8])
def test_an_image_that_ends_in_one_value_a_channel(channels_last: bool, kind: torch.dtype):
    images = (torch.rand(3, 3, 32, 24) * 255).to(kind)
    images[1, :, 20:] = torch.tensor([128, 127, 126]).to(kind)[:, None, None]
    images[2, :, 31:] = 0
    images = images.permute(0, 2, 3, 1) if channels_last else images
    assert (look_at(images).cut, look_at(images).plain_edge) == ((1,), True)
    assert cut_share(images[1], lines_of(images) or 0) == 12 / 32


def test_what_is_no_batch_of_images_is_not_looked_at_so():
    assert cut_images(torch.zeros(4, 64, 32, 32)) == ((), False)
    assert cut_images(torch.zeros(4, 1, 8, 8)) == ((), False)
    assert cut_images(torch.zeros(4, 32, 32)) == ((), False)


def test_the_logarithm_of_nothing_among_others_is_no_mask():
    x = torch.linspace(-4, 3, 12).view(4, 3).clone()
    x[1] = -math.inf
    look = look_at(x)
    assert (look.minus_inf_only, look.bad_rows, look.nonfinite) == (False, (1,), 3)
