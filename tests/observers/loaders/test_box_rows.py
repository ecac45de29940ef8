"""Rows of four columns: boxes that were mirrored, and what looks like them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from debugtracer.callsites.line import first
from debugtracer.observers.loaders.box_rows import FEWEST, BoxRows, OrderWatch, alike_path, extents, is_fours

ROWS = 600


def boxes(rows: int = ROWS, seed: int = 0) -> Tensor:
    """Corners within a picture of 100 by 100."""
    made = torch.Generator().manual_seed(seed)
    sizes = 5 + 25 * torch.rand(rows, 2, generator=made)
    corners = torch.rand(rows, 2, generator=made) * (100 - sizes)
    return torch.cat([corners, corners + sizes], 1)


def mirrored(rows: Tensor, column: int = 0, share: float = 0.5) -> Tensor:
    """A part of the rows, with both edges mirrored and not exchanged."""
    torch.manual_seed(1)
    wrong = torch.rand(rows.shape[:-1]) < share
    pair = [column, column + 2]
    rows = rows.clone()
    rows[..., pair] = torch.where(wrong[..., None], 100 - rows[..., pair], rows[..., pair])
    return rows


def broken(*parts: Tensor) -> int | None:
    seen = BoxRows()
    for part in parts:
        seen.add(part)
    return seen.broken()


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_mirrored_boxes(column, share):
    assert broken(mirrored(boxes(), column, share)) == column


def test_batches_count_together_and_padding_does_not():
    rows = mirrored(boxes())
    assert broken(rows[: FEWEST - 1]) is None
    assert broken(rows[: FEWEST - 1], torch.zeros(50, 4), -torch.ones(50, 4)) is None
    assert broken(torch.cat([rows, torch.zeros(50, 4), torch.tensor([[100.0, 0, 100, 0]])]).view(1, -1, 4)) == 0


def wide_low(r: Tensor) -> Tensor:  # x, y, w, h of tall things near the top
    return torch.stack([r[:, 0], 0.3 * r[:, 1], 0.1 + 0.5 * r[:, 2], 0.4 + 0.5 * r[:, 3]], 1)


def one_width(r: Tensor) -> Tensor:  # centres and sizes, all of one width
    return torch.stack([r[:, 0], 0.2 * r[:, 1], torch.full((len(r),), 0.5), 0.3 + r[:, 3]], 1)


def prices(r: Tensor) -> Tensor:  # low, open, high, close
    four = 100 + r.sub(0.5).cumsum(1)
    return torch.stack([four.amin(1) - 0.1, four[:, 0], four.amax(1) + 0.1, four[:, 3]], 1)


def upright(r: Tensor) -> Tensor:  # ends of limbs, the higher one first
    lean = torch.randn(len(r))
    return torch.stack([r[:, 0], r[:, 1] * 0.4, r[:, 0] + 0.1 * lean, r[:, 1] * 0.4 + 0.3 + 0.1 * r[:, 2]], 1)


def turns(r: Tensor) -> Tensor:
    return torch.nn.functional.normalize(r - 0.5, dim=1)


def chances(r: Tensor) -> Tensor:
    return (4 * r).softmax(1)


def classes(r: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(r.argmax(1), 4).float()


def sorted_rows(r: Tensor) -> Tensor:
    return r.sort(1).values


def sized(r: Tensor) -> Tensor:  # another scale in each column, one always larger
    return torch.stack([r[:, 0], r[:, 1], 3 * r[:, 2], 2 + r[:, 3]], 1)


LOOK_ALIKES = [wide_low, one_width, prices, upright, turns, chances, classes, sorted_rows, sized, torch.nn.Identity()]


@pytest.mark.parametrize("made", LOOK_ALIKES)
@pytest.mark.parametrize("seed", range(5))
def test_other_rows_of_four_are_none(made, seed):
    torch.manual_seed(seed)
    assert broken(made(torch.rand(ROWS, 4))) is None


def test_boxes_in_order_are_none_and_whole():
    seen = BoxRows()
    seen.add(boxes())
    assert seen.broken() is None
    assert seen.is_whole()
    seen.add(mirrored(boxes()))
    assert not seen.is_whole()


def test_what_rows_of_four_are():
    assert is_fours(torch.zeros(3, 4), (2,)) and is_fours(torch.zeros(3, 4, dtype=torch.long), (2,))
    assert not is_fours(torch.zeros(3, 4, dtype=torch.uint8), (2,))
    assert not is_fours(torch.zeros(3, 5), (2,)) and not is_fours(torch.zeros(4), (2,)) and not is_fours(None, (2,))
    assert extents(torch.tensor([[1.0, 2, 4, 1], [0, 0, 0, 0]])).tolist() == [[3, -1]]


@pytest.mark.parametrize(
    ("path", "alike"),
    [("batch[1]", "batch[1]"), ("batch['box']", "batch['box']"), ("batch[1][3]['boxes']", "batch[1][*]['boxes']")],
)
def test_samples_in_a_list_are_one_tensor(path, alike):
    assert alike_path(path) == alike


def flipped(box: Tensor) -> Tensor:
    box = box.clone()
    box[..., [0, 2]] = 100 - box[..., [0, 2]]
    return box / 100


def by_columns(box: Tensor) -> Tensor:
    left, top, right, bottom = box.unbind(-1)
    return torch.stack([100 - left, top, 100 - right, bottom], -1)


def exchanged(box: Tensor) -> Tensor:
    box = box.clone()
    box[..., [0, 2]] = 100 - box[..., [2, 0]]
    return box


def as_sizes(box: Tensor) -> Tensor:
    return torch.cat([box[..., :2], (box[..., 2:] - box[..., :2]) / 9], -1)


@pytest.mark.parametrize(("flip", "told"), [(flipped, "box[..., [0, 2]] ="), (by_columns, "torch.stack([100 - left,")])
@pytest.mark.parametrize("box", [boxes(1)[0], boxes(3)])
def test_the_line_that_breaks_the_order(flip, told, box):
    with OrderWatch(0) as watch:
        flip(box)
    assert told in first(watch.raw).code


@pytest.mark.parametrize("flip", [exchanged, as_sizes])
def test_no_line_breaks_the_order(flip):
    with OrderWatch(0) as watch:
        flip(boxes(3))
    assert not watch.raw


def test_rows_that_never_were_in_order_have_no_line():
    ends = torch.tensor([60.0, 10, 20, 40])
    with OrderWatch(0) as watch:
        ends.clone().mul(2)
    assert not watch.raw


def test_an_order_that_is_lost_in_numpy_has_no_line():
    box = boxes(1)[0]
    with OrderWatch(0) as watch:
        box = box.clone()
        box.numpy()[[0, 2]] = 100 - box.numpy()[[0, 2]]
        box.clone()
    assert not watch.raw
