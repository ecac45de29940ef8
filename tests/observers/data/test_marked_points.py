"""Pairs of numbers that are places in pictures, and such that are not."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.marked_points import STANDS_OUT, is_points, marks

SIDE, COUNT = 24, 20


def pictures_with(points):
    """A bright spot at each point of pictures of noise; `points` are columns and rows."""
    down, across = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    far = (across - points[..., 0, None, None]) ** 2 + (down - points[..., 1, None, None]) ** 2
    return list((torch.exp(-far / 4).sum(1) + 0.1 * torch.randn(COUNT, SIDE, SIDE))[:, None])


def drawn():
    torch.manual_seed(1)
    return 3 + torch.rand(COUNT, 2, 2) * (SIDE - 7)


@pytest.mark.parametrize(
    "told",
    [
        lambda p: p,
        lambda p: p / (SIDE - 1),
        lambda p: 2 * p / (SIDE - 1) - 1,
        lambda p: p.flip(-1),
        lambda p: p.flatten(1),
        lambda p: torch.cat([p, torch.ones(COUNT, 2, 1)], -1),
    ],
)
def test_points_in_any_scale_and_order_are_places(told):
    points = drawn()
    assert marks(pictures_with(points), list(told(points)), SIDE, SIDE) >= STANDS_OUT


def test_points_of_mirrored_pictures_are_places_too():
    points = drawn()
    turned = [one.flip(-1) if n % 2 else one for n, one in enumerate(pictures_with(points))]
    assert marks(turned, list(points), SIDE, SIDE) >= STANDS_OUT


def test_numbers_without_a_place_are_none():
    points = drawn()
    pictures = pictures_with(points)
    for seed in range(8):
        torch.manual_seed(100 + seed)
        other = torch.rand(COUNT, 2, 2) * SIDE
        assert marks(pictures, list(other), SIDE, SIDE) < STANDS_OUT
    assert marks(pictures, list(torch.randn(COUNT, 4) * 100), SIDE, SIDE) == 0
    assert marks(pictures[:4], list(points)[:4], SIDE, SIDE) == 0


def test_which_targets_may_be_points():
    assert is_points(torch.rand(5, 3, 2)) and is_points(torch.rand(5, 3, 3)) and is_points(torch.rand(5, 6))
    assert not is_points(torch.rand(5, 3)) and not is_points(torch.ones(5, 4))
    assert not is_points(torch.randint(0, 9, (5, 2))) and not is_points(torch.rand(5, 3, 4))
