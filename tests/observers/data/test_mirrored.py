"""Pictures by their middle."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.mirrored import (
    TURNS,
    box_turns_between,
    cuts_seen,
    in_order,
    is_boxes,
    laid_out,
    middle,
    turns_between,
    turns_of_cuts,
    turns_seen,
)


@pytest.mark.parametrize("shape", [(3, 12, 12), (3, 100, 81), (1, 9, 200), (12, 13), (2, 301, 300)])
@pytest.mark.parametrize("how", ["left to right", "upside down", "by half a turn"])
def test_the_middle_of_a_mirror_image_is_the_mirror_image_of_the_middle(shape, how):
    picture = torch.randn(shape)
    assert turns_between(middle(TURNS[how](picture)), middle(picture)) == [how]


@pytest.mark.parametrize("how", [how for how in TURNS if "quarter" in how or "diagonal" in how])
def test_quarter_turns_of_squares(how):
    picture = torch.randn(3, 31, 31)
    assert turns_between(middle(TURNS[how](picture)), middle(picture)) == [how]


def test_the_same_is_not_turned_and_another_is_none():
    picture = torch.randn(3, 9, 9)
    assert turns_between(picture.clone(), picture) == [""]
    assert turns_between(picture + 1, picture) == []
    assert turns_between(torch.randn(3, 9, 8), picture) == []


def test_what_looks_the_same_when_it_is_turned_has_many_turns():
    picture = torch.randn(1, 9, 9)
    assert turns_between(picture + picture.flip(-1), picture + picture.flip(-1)) == ["", "left to right"]
    assert len(turns_between(torch.ones(1, 9, 9), torch.ones(1, 9, 9))) == 1 + len(TURNS)


def test_pictures_with_other_colours_are_turned_as_they_resemble_one_another():
    picture = torch.rand(3, 12, 12)
    changed = 0.7 * picture.flip(-1) + 0.2 + 0.05 * torch.randn(3, 12, 12)
    assert turns_between(changed, picture) == [] and turns_seen(changed, picture) == ["left to right"]
    assert turns_seen(picture * 2, picture) == [""] and turns_seen(picture.clone(), picture) == [""]
    assert turns_seen(torch.rand(3, 12, 12), picture) == []
    same = picture + picture.flip(-1)
    assert turns_seen(same * 2, same) == []


@pytest.mark.parametrize("scale", [1.0, torch.tensor([30.0, 20.0, 30.0, 20.0])])
def test_boxes_are_mirrored_in_pixels_and_in_shares(scale):
    def found(now: list[float]) -> list[str]:
        return box_turns_between(torch.tensor(now) * scale, torch.tensor([0.1, 0.2, 0.3, 0.8]) * scale, 20, 30)

    assert found([0.1, 0.2, 0.3, 0.8]) == ["", "upside down"]
    assert found([0.7, 0.2, 0.9, 0.8]) == ["left to right", "by half a turn"]
    assert found([0.2, 0.2, 0.4, 0.8]) == []


def test_boxes_by_the_middle_of_their_pixels():
    boxes = torch.tensor([[0, 1, 4, 5], [2, 2, 3, 9]])
    assert box_turns_between(torch.tensor([[7, 1, 11, 5], [8, 2, 9, 9]]), boxes, 14, 12) == ["left to right"]


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


def test_four_numbers_that_rise_are_no_sure_box():
    assert in_order(torch.tensor([[0.1, 0.4, 0.4, 1.0]]))
    assert not in_order(torch.tensor([[0.1, 0.4, 0.4, 1.0], [0.1, 0.5, 0.4, 1.0]]))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_pictures_of_sizes_of_their_own_are_not_laid_out():
    assert laid_out(torch.nested.nested_tensor([torch.ones(3, 9, 9), torch.ones(3, 12, 9)])) is None


def test_the_turn_of_a_picture_of_which_another_part_was_cut_out():
    picture = torch.randn(3, 40, 40)
    one, other = picture[:, 2:34, 1:33], picture[:, 4:36, 3:35]
    assert turns_of_cuts(other, one) == [""]
    assert turns_of_cuts(other.flip(-1), one) == ["left to right"]
    assert turns_of_cuts(torch.randn(3, 32, 32), one) == []
    assert turns_of_cuts(picture[:, :8, :8], picture[:, 1:9, :8]) == []
    assert len(turns_of_cuts(torch.zeros(1, 32, 32), torch.zeros(1, 32, 32))) == 8


def test_the_turn_of_a_part_whose_brightness_was_set_anew():
    picture = torch.randn(3, 40, 40)
    one, other = 2 * picture[:, 2:34, 1:33] - 1, 0.5 * picture[:, 4:36, 3:35]
    assert cuts_seen(other, one) == [""]
    assert cuts_seen(other.flip(-2), one) == ["upside down"]
    assert cuts_seen(other + 0.5 * torch.randn_like(other), one) == []
    assert cuts_seen(torch.randn(3, 32, 32), one) == []
    assert cuts_seen(picture[:, :8, :8], picture[:, 1:9, :8]) == []
    assert cuts_seen(other[0], one[0]) == [""]


def test_a_part_that_looks_the_same_when_it_is_turned_has_no_turn():
    slope = torch.linspace(0, 1, 40).expand(40, 40)
    assert cuts_seen(slope[2:34, 1:33], slope[4:36, 3:35]) == []
