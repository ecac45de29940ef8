"""Pictures that are mirrored while their masks or boxes are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from debugtracer import session
from debugtracer.trace.facts.mirrored_input import MirroredInput
from tests.observers.told import facts
from tests.watching import under_watch

Sample = tuple[Tensor, Tensor]


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Pictures(Dataset[Sample]):
    """Twenty pictures with something that belongs to each, changed by a transform at each fetch."""

    def __init__(self, transform: Callable[[Tensor, Tensor], Sample], target: Callable[[Tensor], Tensor]) -> None:
        self.pictures = torch.randn(20, 3, 12, 12)
        self.targets, self.transform = [target(picture) for picture in self.pictures], transform

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> Sample:
        return self.transform(self.pictures[index], self.targets[index])


def mask(picture: Tensor) -> Tensor:
    return (picture[0] > 0).float()


def box(picture: Tensor) -> Tensor:
    left, top = (int(v) for v in torch.randint(0, 5, (2,)))
    return torch.tensor([left, top, left + 4, top + 5]).float()


def away(picture: Tensor) -> Tensor:
    left = int(torch.randint(0, 4, (1,)))
    return torch.tensor([left, 2, left + 3, 8]).float()


def numbers(picture: Tensor) -> Tensor:
    return torch.randn(4)


def coin() -> bool:
    return bool(torch.rand(1) < 0.5)


class Spots(Pictures):
    """The same with a bright spot where the target says."""

    def __init__(self, transform: Callable[[Tensor, Tensor], Sample], target: Callable[[Tensor], Tensor]) -> None:
        super().__init__(transform, target)
        self.pictures = 0.1 * self.pictures
        for picture, points in zip(self.pictures, self.targets, strict=True):
            for x, y in points.view(-1, 2).long().tolist():
                picture[:, y, x] += 3


def spots(picture: Tensor) -> Tensor:
    return torch.randint(1, 11, (2, 2)).float() + 0.25 * torch.rand(2, 2)


def spots_in_a_row(picture: Tensor) -> Tensor:
    return spots(picture).flatten()


def coloured(picture: Tensor, target: Tensor) -> Sample:
    picture = picture * (0.8 + 0.4 * torch.rand(1)) + 0.02 * torch.randn(3, 12, 12)
    return picture.flip(-1) if coin() else picture, target


def points_with_it(picture: Tensor, target: Tensor) -> Sample:
    mirrored = target * torch.tensor([-1.0, 1.0]) + torch.tensor([11.0, 0.0])
    return (picture.flip(-1), mirrored) if coin() else (picture, target)


def seen(
    tmp_path: Any,
    transform: Any,
    target: Any,
    forward: Callable[..., Tensor] | None = None,
    workers: int = 0,
    kind: type[Pictures] = Pictures,
) -> list[MirroredInput]:
    with under_watch(tmp_path):
        torch.manual_seed(0)
        data = kind(transform, target)
        model = nn.Conv2d(3, 3, 3, padding=1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(4):
            for picture, _target in DataLoader(data, batch_size=5, shuffle=True, num_workers=workers):
                loss = (forward(model, picture, _target) if forward else model(picture)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    return facts(tmp_path, MirroredInput)


def only_picture(turn: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Sample]:
    return lambda picture, target: (turn(picture) if coin() else picture, target)


def flipped(picture: Tensor) -> Tensor:
    return picture.flip(-1)


def both(picture: Tensor, target: Tensor) -> Sample:
    return (picture.flip(-1), target.flip(-1)) if coin() else (picture, target)


def each_its_own(picture: Tensor, target: Tensor) -> Sample:
    return picture.flip(-1) if coin() else picture, target.flip(-1) if coin() else target


def boxes_by_their_own(picture: Tensor, target: Tensor) -> Sample:
    left, top, right, bottom = target
    mirrored = torch.stack([12 - right, top, 12 - left, bottom])
    return picture.flip(-1) if coin() else picture, mirrored if coin() else target


def boxes_with_it(picture: Tensor, target: Tensor) -> Sample:
    left, top, right, bottom = target
    mirrored = torch.stack([12 - right, top, 12 - left, bottom])
    return (picture.flip(-1), mirrored) if coin() else (picture, target)


def quarter_turns(picture: Tensor, target: Tensor) -> Sample:
    turns = torch.randint(0, 4, (2,)).tolist()
    return picture.rot90(turns[0], (-2, -1)), target.rot90(turns[1], (-2, -1))


def turned_and_flipped(picture: Tensor, target: Tensor) -> Sample:
    turns, flip = int(torch.randint(0, 4, (1,))), coin()
    picture, target = (one.rot90(turns, (-2, -1)) for one in (picture, target))
    return (picture.flip(-1), target.flip(-1)) if flip else (picture, target)


def jittered(picture: Tensor, target: Tensor) -> Sample:
    return both(picture * (0.8 + 0.4 * torch.rand(1)), target)


def erased(picture: Tensor, target: Tensor) -> Sample:
    picture, top = picture.clone(), int(torch.randint(0, 8, (1,)))
    picture[:, top : top + 4, top : top + 4] = 0
    return both(picture, target)


def views(picture: Tensor, target: Tensor) -> Sample:
    one, other = each_its_own(picture, target)
    return one if coin() else one * 1.1, other if coin() else other * 0.9


def half_hole(picture: Tensor, target: Tensor) -> Sample:
    hole = torch.zeros(12, 12)
    hole[:, :6] = 1
    return picture.flip(-1) if coin() else picture, hole.flip(-1) if coin() else hole


@pytest.mark.parametrize(
    ("turn", "target", "how", "what"),
    [
        (flipped, mask, "left to right", "mask"),
        (lambda p: p.flip(1), mask, "upside down", "mask"),
        (lambda p: p.rot90(1, (1, 2)), mask, "by a quarter turn", "mask"),
        (flipped, box, "left to right", "box"),
        (flipped, lambda p: p.mean(0, keepdim=True), "left to right", "mask"),
    ],
)
def test_finds_a_target_that_does_not_follow(tmp_path, turn, target, how, what):
    (fact,) = seen(tmp_path, only_picture(turn), target)
    assert fact.what == what
    assert fact.how.startswith(how)
    assert (fact.path, fact.target) == ("batch[0]", "batch[1]")
    assert len(fact.samples) >= 4
    assert fact.target_how == ""
    assert fact.compared >= len(fact.samples)


@pytest.mark.parametrize(
    ("transform", "target", "what"),
    [
        (each_its_own, mask, "mask"),
        (quarter_turns, mask, "mask"),
        (quarter_turns, lambda p: p.mean(0, keepdim=True), "mask"),
        (lambda p, t: (p, t.flip(-1) if coin() else t), mask, "mask"),
        (boxes_by_their_own, away, "box"),
    ],
)
def test_finds_a_target_with_a_draw_of_its_own(tmp_path, transform, target, what):
    (fact,) = seen(tmp_path, transform, target)
    assert fact.what == what
    assert fact.target_how
    assert fact.first[0] != fact.first[1]
    assert len(fact.samples) >= 4
    assert fact.target_frame is not None


@pytest.mark.parametrize("target", [spots, spots_in_a_row])
@pytest.mark.parametrize("transform", [only_picture(flipped), coloured])
def test_points_that_stay_while_their_picture_is_mirrored(tmp_path, transform, target):
    (fact,) = seen(tmp_path, transform, target, kind=Spots)
    assert (fact.what, fact.how, fact.target_how) == ("points", "left to right", "")


def test_points_that_follow_and_numbers_that_are_no_places(tmp_path):
    assert not seen(tmp_path / "a", points_with_it, spots, kind=Spots)
    assert not seen(tmp_path / "b", coloured, spots)
    assert not seen(tmp_path / "c", coloured, spots_in_a_row)


def test_a_mask_that_stays_while_its_picture_is_mirrored_and_coloured(tmp_path):
    (fact,) = seen(tmp_path, coloured, mask)
    assert fact.what == "mask"


def one_turn_more(picture: Tensor, target: Tensor) -> Sample:
    if coin():
        picture = picture.flip(-1)
        target = target.flip(-1)
    if coin():
        picture = picture.flip(-2)  # the picture alone
    return picture, target


def test_the_line_that_turns_the_picture_alone_beside_one_that_turns_both(tmp_path):
    (fact,) = seen(tmp_path, one_turn_more, mask)
    assert fact.only == "picture"
    assert fact.frame is not None
    assert fact.frame.code.endswith("# the picture alone")
    assert fact.target_how == "left to right"


def test_samples_of_workers_are_compared_too(tmp_path):
    (fact,) = seen(tmp_path, only_picture(flipped), mask, workers=2)
    assert fact.what == "mask"


@pytest.mark.parametrize(
    ("transform", "target"),
    [
        (both, mask),
        (each_its_own, lambda p: p.clone()),  # two views
        (only_picture(flipped), lambda p: p.clone()),  # one view and the picture itself
        (only_picture(flipped), numbers),
        (only_picture(flipped), lambda p: torch.rand(4).cumsum(0)),  # four numbers that rise: a cumulated rating
        (only_picture(flipped), lambda p: torch.ones(12, 12)),  # the same either way
        (only_picture(lambda p: p + 1), mask),
        (only_picture(flipped), lambda p: torch.tensor(1)),
        (turned_and_flipped, mask),
        (boxes_with_it, away),
        (boxes_with_it, box),
        (jittered, mask),
        (erased, mask),
        (views, lambda p: p.clone()),
        (each_its_own, lambda p: torch.zeros(12, 12)),
        (each_its_own, lambda p: torch.arange(12.0).expand(12, 12)),  # the same for every picture
        (half_hole, mask),
        (lambda p, t: both(p, (torch.rand(12, 12) > 0.5).float()), mask),
    ],
)
def test_what_follows_or_has_no_place_is_no_news(tmp_path, transform, target):
    assert not seen(tmp_path, transform, target)


def test_what_a_model_is_given_is_no_target(tmp_path):
    def filling(model: nn.Module, picture: Tensor, hole: Tensor) -> Tensor:
        return Fill(model)(picture, hole)

    assert not seen(tmp_path, only_picture(flipped), mask, filling)


class Fill(nn.Module):
    """Fills a hole of a picture."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, picture: Tensor, hole: Tensor) -> Tensor:
        return self.inner(picture * hole[:, None])


class Wide(Pictures):
    """Larger pictures, of which a part is cut out at each fetch."""

    def __init__(self, transform: Callable[[Tensor, Tensor], Sample], target: Callable[[Tensor], Tensor]) -> None:
        super().__init__(transform, target)
        self.pictures = torch.randn(20, 3, 26, 26)
        self.targets = [target(picture) for picture in self.pictures]


def place() -> tuple[slice, slice]:
    top, left = (int(v) for v in torch.randint(0, 6, (2,)))
    return slice(top, top + 20), slice(left, left + 20)


def cut_then(turn: Callable[[Tensor, Tensor], Sample]) -> Callable[[Tensor, Tensor], Sample]:
    def transform(picture: Tensor, target: Tensor) -> Sample:
        high, wide = place()
        return turn(picture[..., high, wide], target[..., high, wide])

    return transform


def cut_apart(picture: Tensor, target: Tensor) -> Sample:
    """Each has its own part cut out: which belongs to which is not known."""
    (high, wide), (other, far) = place(), place()
    return picture[..., high, wide], target[..., other, far]


def test_a_target_that_is_cut_out_with_its_picture_and_does_not_follow_its_flips(tmp_path):
    (fact,) = seen(tmp_path, cut_then(only_picture(flipped)), lambda p: p.mean(0, keepdim=True) + 1, kind=Wide)
    assert (fact.what, fact.how, fact.target_how, fact.cut) == ("mask", "left to right", "", True)


def bright(turn: Callable[[Tensor, Tensor], Sample]) -> Callable[[Tensor, Tensor], Sample]:
    """Cut out, turned, and set to mean 0 and deviation 1."""

    def transform(picture: Tensor, target: Tensor) -> Sample:
        picture, target = cut_then(turn)(picture, target)
        return (picture - picture.mean()) / picture.std(), target

    return transform


def test_a_target_that_does_not_follow_the_flips_of_a_part_whose_brightness_is_set_anew(tmp_path):
    (fact,) = seen(tmp_path, bright(only_picture(flipped)), lambda p: (p.mean(0, keepdim=True) > 0) + 0.0, kind=Wide)
    assert (fact.what, fact.how, fact.target_how, fact.cut) == ("mask", "left to right", "", True)


@pytest.mark.parametrize(
    ("transform", "target"),
    [
        (bright(both), mask),
        (bright(lambda p, t: (p, t)), mask),
        (bright(lambda p, t: (p + 0.5 * torch.randn_like(p), t)), mask),
        (bright(only_picture(flipped)), lambda p: torch.ones(26, 26)),
        (bright(each_its_own), lambda p: p.clone()),
        (cut_then(both), mask),
        (cut_then(lambda p, t: (p, t)), mask),
        (cut_apart, mask),
        (cut_then(lambda p, t: (p + 0.3 * torch.randn_like(p), t)), mask),  # noise to be taken away
        (cut_then(only_picture(flipped)), lambda p: torch.ones(26, 26)),
        (cut_then(each_its_own), lambda p: p.clone()),  # two views
    ],
)
def test_parts_that_follow_are_no_news(tmp_path, transform, target):
    assert not seen(tmp_path, transform, target, kind=Wide)
