"""Maps of ids, resized."""

from __future__ import annotations

import numpy
import pytest
import torch
from PIL import Image
from torch.nn import functional as F

from debugtracer.observers.loaders.label_resizing import (
    ResizeWatch,
    holds,
    is_few,
    is_ordered,
    is_renamed,
    looks_weighed,
    ranks,
    stray,
    stray_renamed,
)


def a_map(size=16, high=4):
    ids = torch.zeros(size, size)
    ids[size // 4 :, : size // 2] = 1
    ids[5:12, 6:13] = high
    return ids


def watched(resize):
    watch = ResizeWatch()
    with watch.pictures(), watch:
        result = resize()
    return watch.seen, result


def smooth(ids, mode="bilinear", size=33):
    return F.interpolate(ids[None, None], size=size, mode=mode, **({} if mode == "area" else {"align_corners": False}))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("cast", [lambda made: made.long(), lambda made: made.round().long()])
def test_ids_between_others_are_stray(mode, cast):
    (one,), made = watched(lambda: smooth(a_map(), mode))
    target = cast(made)
    found = stray(one, target[target >= 0])
    assert (one.function, one.mode) == ("interpolate", mode)
    assert found.pixels == 33 * 33
    assert found.wrong > 10
    assert {2, 3} & {*found.ids}


def test_a_part_of_the_map_is_found():
    (one,), made = watched(lambda: smooth(a_map()))
    assert stray(one, made.long()[0, 0, 4:30, 4:30].flip(0)).wrong > 10


def test_other_targets_are_not_of_this_map():
    (one,), _ = watched(lambda: smooth(a_map()))
    assert stray(one, torch.randint(0, 5, (32, 32))) is None


def test_neighbouring_ids_and_one_channel_a_class_have_no_stray_pixels():
    assert watched(lambda: smooth(a_map(high=0)))[0] == []
    assert watched(lambda: smooth((a_map() == 4).float()))[0] == []


def test_ordered_ids_with_small_steps_have_none():
    ids = torch.arange(16.0).div(2, rounding_mode="floor").expand(16, 16).contiguous()
    (one,), made = watched(lambda: smooth(ids))
    assert stray(one, made.long()) is None


def test_heights_in_steps_are_ordered_and_classes_are_not():
    heights = smooth(torch.rand(4, 4, generator=torch.Generator().manual_seed(1)) * 9, size=16)[0, 0].round()
    (one,), made = watched(lambda: smooth(heights))
    assert is_ordered(heights)
    assert stray(one, made.round().long()) is None
    assert not is_ordered(a_map())


def test_nearest_and_pictures_are_not_noted():
    assert watched(lambda: F.interpolate(a_map()[None, None], size=33, mode="nearest"))[0] == []
    assert watched(lambda: smooth(torch.randn(16, 16)))[0] == []
    assert watched(lambda: smooth(torch.arange(256.0).view(16, 16)))[0] == []


def test_pictures_of_pil_are_noted_and_left_as_they_were():
    before = Image.Image.resize
    picture = Image.fromarray(a_map().numpy().astype("uint8"))
    (one,), made = watched(lambda: picture.resize((33, 33), Image.BILINEAR))
    assert (one.function, one.mode) == ("Image.resize", "bilinear")
    assert stray(one, torch.from_numpy(numpy.array(made)).long()).wrong > 10
    (plain,), made = watched(lambda: picture.resize((33, 33), Image.NEAREST))
    assert stray(plain, torch.from_numpy(numpy.array(made)).long()) is None
    assert Image.Image.resize is before


def test_a_failure_of_the_program_passes_and_pictures_are_as_before():
    before = Image.Image.resize
    with pytest.raises(ValueError, match="Unknown"):
        watched(lambda: Image.fromarray(a_map().numpy().astype("uint8")).resize((8, 8), 99))
    assert Image.Image.resize is before


def test_ids_of_a_weighed_map_lie_between_their_neighbours():
    assert looks_weighed(smooth(a_map())[0].long())
    assert not looks_weighed(F.interpolate(a_map()[None, None], size=33, mode="nearest")[0].long())
    assert not looks_weighed(torch.randint(0, 9, (4, 16, 16)))


def test_few_whole_numbers():
    assert is_few(torch.tensor([0.0, 4.0]))
    assert not is_few(torch.tensor([0.0, 1.0]))
    assert not is_few(torch.tensor([0.0, 4.5]))
    assert not is_few(torch.arange(100))
    assert not is_few(torch.tensor([-1, 4]))


def test_a_map_holds_its_parts():
    labels = torch.arange(128) % 4
    assert holds(labels, labels[:64])
    assert not holds(labels, labels[:8])
    assert not holds(labels, torch.zeros(64, dtype=torch.long))
    assert not holds(labels, torch.arange(64) % 5)


def coded():
    """A map of codes far apart, as files hold them."""
    ids = torch.randint(0, 6, (5, 5), generator=torch.Generator().manual_seed(3))
    return torch.kron(torch.tensor([3.0, 7, 11, 23, 40, 52])[ids], torch.ones(4, 4))


def renamed(codes):
    """Classes in no order of their codes; one does not count."""
    table = torch.arange(64) % 5
    table[3] = 250
    return table[codes.long()]


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_ids_with_other_names_since_are_stray_by_their_pixels(mode):
    (one,), made = watched(lambda: smooth(coded(), mode))
    found = stray_renamed(one, renamed(made.clamp(0, 63)), 250)
    assert found.pixels == 33 * 33
    assert found.wrong > 10
    assert {*found.ids} <= {*range(5)}


def test_names_of_ids_that_reach_a_pixel_are_no_stray_ones():
    (one,), made = watched(lambda: smooth(coded()))
    assert stray_renamed(one, (made > 9).long(), 250) is None  # a threshold of a picture
    assert stray_renamed(one, torch.randint(0, 5, (33, 33)), 250) is None  # another map
    assert stray_renamed(one, renamed(made)[..., :20], 250) is None
    ordered = torch.arange(16.0).div(2, rounding_mode="floor").mul(10).expand(16, 16).contiguous()
    (one,), made = watched(lambda: smooth(ordered))
    assert is_ordered(ranks(ordered))
    assert stray_renamed(one, (made / 20).long(), 250) is None  # heights, in coarser steps


def test_names_are_those_of_ids_where_each_has_one():
    ids = torch.tensor([0, 0, 4, 7])
    assert is_renamed(ids, torch.tensor([2, 2, 2, 9]))
    assert not is_renamed(ids, torch.tensor([2, 1, 2, 9]))


def test_weighed_ids_with_other_names_have_a_third_one_between_two():
    weighed = F.interpolate(torch.kron(coded(), torch.ones(4, 4))[None, None], size=33, mode="area")[0].long()
    order = torch.randperm(64, generator=torch.Generator().manual_seed(0))
    assert looks_weighed(torch.stack([order[weighed]] * 2).flatten(0, 1))
    assert not looks_weighed(order[F.interpolate(coded()[None, None], size=33, mode="nearest")[0].long()])
