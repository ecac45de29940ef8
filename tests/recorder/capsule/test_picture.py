"""A row that has the shape of an image is kept as pixels, one that has that of a signal as points, another as
neither."""

from __future__ import annotations

import base64
import math

import pytest
import torch

from debugtracer.recorder.capsule.batch_table import table_of
from debugtracer.recorder.capsule.picture import MOST_BAD, POINTS, SIDE, looks_of


@pytest.mark.parametrize(
    ("shape", "pixels"),
    [((3, 32, 32), (32, 32, 3)), ((32, 30, 3), (32, 30, 3)), ((1, 28, 28), (28, 28, 1)), ((64, 100), (32, 34, 1))],
)
def test_what_has_the_shape_of_an_image_is_one(shape: tuple[int, ...], pixels: tuple[int, ...]) -> None:
    kept = looks_of(torch.rand(shape))["picture"]
    assert (kept["height"], kept["width"], kept["channels"]) == pixels
    assert len(base64.b64decode(kept["pixels"])) == math.prod(pixels)
    assert max(pixels[:2]) <= SIDE


def test_levels_span_the_finite_values_and_what_is_not_finite_is_named() -> None:
    image = torch.zeros(1, 8, 8)
    image[0, 0, 0], image[0, 7, 7], image[0, 1, 0], image[0, 1, 1] = -2.0, 2.0, float("nan"), float("inf")
    kept = looks_of(image)["picture"]
    levels = list(base64.b64decode(kept["pixels"]))
    assert (levels[0], levels[63], levels[2], kept["bad"]) == (0, 255, 128, [8, 9])
    whole = looks_of(torch.full((3, 32, 32), float("nan")))["picture"]
    assert len(whole["bad"]) == MOST_BAD and set(base64.b64decode(whole["pixels"])) == {0}
    wide = looks_of(torch.tensor([-1.7e308, 1.7e308] * 32, dtype=torch.float64).reshape(1, 8, 8))
    assert wide["picture"]["bad"] == []


def test_whole_numbers_of_an_image_file_keep_their_brightness() -> None:
    kept = looks_of(torch.full((8, 8, 3), 51, dtype=torch.uint8))["picture"]
    assert set(base64.b64decode(kept["pixels"])) == {51}


def test_a_signal_is_a_few_points() -> None:
    wave = torch.sin(torch.arange(1000) / 20)
    wave[8] = float("nan")
    kept = looks_of(wave)["signal"]
    assert len(kept) <= POINTS and kept[1] == "NaN" and kept[0] == 0.0
    assert len(looks_of(wave.reshape(1, -1))["signal"]) == len(kept)


@pytest.mark.parametrize(
    "row",
    [torch.arange(40), torch.rand(12), torch.rand(4, 9), torch.rand(5, 32, 32), torch.rand(2, 3, 4, 5),
     torch.tensor(1.0), torch.rand(0, 32, 32), torch.zeros(32, 32, dtype=torch.bool)],
)  # fmt: skip
def test_what_looks_like_neither_stays_numbers(row: torch.Tensor) -> None:
    assert looks_of(row) == {}


def test_only_the_rows_that_a_page_shows_have_one() -> None:
    table = table_of([("x", torch.rand(40, 3, 16, 16))], 40, guilty_rows=range(10, 40))
    shown = [row for row in table["rows"] if "picture" in row["leaves"][0]]
    assert [row["row"] for row in shown] == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15]
