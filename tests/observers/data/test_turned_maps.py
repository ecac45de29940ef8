"""Maps that lie over their pictures, and others."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import avg_pool2d

from debugtracer.observers.data.turned_maps import columns_of, is_map_of, turned


def blobs(high=16, wide=16, rows=12):
    draw = torch.Generator().manual_seed(4)
    maps = (avg_pool2d(torch.randn(rows, 1, high, wide, generator=draw), 5, 1, 2)[:, 0] > 0.05).long()
    picture = torch.randn(rows, 3, high, wide, generator=draw)
    picture[:, 1] += 2 * maps
    return picture, maps


def found(picture, maps):
    return turned(picture, maps, torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("turn", "how"),
    [
        (lambda m: m.transpose(1, 2), "transposed"),
        (lambda m: m.flip(1), "mirrored top to bottom"),
        (lambda m: m.flip(2), "mirrored left to right"),
        (lambda m: m.flip(1, 2), "turned by half"),
        (lambda m: m.rot90(1, (1, 2)), "turned by a quarter to the right"),
    ],
)
def test_the_turn_is_found_again(turn, how):
    picture, maps = blobs()
    told = found(picture, turn(maps))
    assert told.how == how and told.turned > 0.5 > 0.2 > told.present


@pytest.mark.parametrize(
    ("how", "other"), [("cut into columns, not rows", True), ("cut into rows, not columns", False)]
)
def test_values_that_were_cut_along_the_other_side(how, other):
    picture, maps = blobs(16, 20)
    across = maps.transpose(1, 2).reshape(12, 16, 20) if other else maps.reshape(12, 20, 16).transpose(1, 2)
    assert found(picture, across).how == how


def test_maps_in_place_or_of_nothing_are_silent():
    picture, maps = blobs()
    assert found(picture, maps) is None and found(picture, picture[:, 1]) is None
    assert found(torch.randn(12, 3, 16, 16), maps) is None
    assert found(picture, torch.zeros_like(maps)) is None
    assert found(picture[:1], maps[:1].transpose(1, 2)) is None
    assert found(picture, (maps + maps.flip(2) > 0).long().flip(2)) is None


def test_what_is_a_map_of_a_picture():
    picture, maps = blobs()
    assert is_map_of(maps, picture) and is_map_of(maps[:, None].float(), picture)
    assert not is_map_of(maps[:, :8], picture) and not is_map_of(maps[:4], picture) and not is_map_of(maps, maps)


def test_ids_become_a_column_each():
    assert columns_of(torch.tensor([[[0, 5], [5, 5]]]))[0, 0].tolist() == [[0, 1], [1, 0]]
