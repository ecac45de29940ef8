"""Pictures by their middle."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.mirrored import TURNS, is_boxes, laid_out, middle, turned


@pytest.mark.parametrize("shape", [(3, 12, 12), (3, 100, 81), (1, 9, 200), (12, 13), (2, 301, 300)])
@pytest.mark.parametrize("how", ["left to right", "upside down", "by half a turn"])
def test_the_middle_of_a_mirror_image_is_the_mirror_image_of_the_middle(shape, how):
    picture = torch.randn(shape)
    assert turned(middle(TURNS[how](picture)), middle(picture)) == how


@pytest.mark.parametrize("how", ["by a quarter turn", "by a quarter turn back"])
def test_quarter_turns_of_squares(how):
    picture = torch.randn(3, 31, 31)
    assert turned(middle(TURNS[how](picture)), middle(picture)) == how


def test_the_same_is_not_turned_and_another_is_none():
    picture = torch.randn(3, 9, 9)
    assert turned(picture, picture.clone()) == ""
    assert turned(picture + 1, picture) is None
    assert turned(picture, torch.randn(3, 9, 8)) is None


def test_pictures_with_channels_last_are_laid_out_and_rows_are_none():
    laid = laid_out(torch.randn(2, 10, 12, 3))
    assert laid is not None
    assert laid.shape == (2, 3, 10, 12)
    assert laid_out(torch.randn(2, 10)) is None
    assert laid_out(torch.randn(2, 3, 4, 4)) is None
    assert laid_out(torch.empty(2, 3, 9, 9, device="meta")) is None
    assert laid_out(torch.empty(0, 3, 9, 9)) is None


def test_boxes_have_ordered_corners_in_every_row():
    assert is_boxes(torch.tensor([[0, 1, 5, 6], [2, 2, 3, 9]]))
    assert not is_boxes(torch.tensor([[0, 1, 5, 6], [4, 2, 3, 9]]))
    assert not is_boxes(torch.zeros(3, 4))
    assert not is_boxes(torch.rand(3, 5))
    assert not is_boxes(torch.empty(0, 4))
