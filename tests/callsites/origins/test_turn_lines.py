"""Lines that turn one of two tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.turn_lines import turned_alone
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.trace.birth import Frame

HEAD = """\
import random
import numpy as np
def stored():
    return np.load("a"), np.load("b")
"""
BOTH = """\
    if random.random() < 0.5:
        image = image[:, :, ::-1]
        mask = mask[:, ::-1]
"""
TAIL = """\
    return image, mask
image, mask = sample()
"""


def told(tmp_path: Path, body: str) -> tuple[int | None, int | None]:
    """The lines for the image and for the mask, counted from the first of the body."""
    file = tmp_path / "train.py"
    head = HEAD + "def sample():\n    image, mask = stored()\n"
    file.write_text(head + body + TAIL)
    at = [Frame(str(file), 100)]
    found = turned_alone(origin("image", at), origin("mask", at))
    first, second = (frame.line - head.count("\n") if frame is not None else None for frame in found)
    return first, second


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (BOTH, (None, None)),
        (BOTH + "    if random.random() < 0.5:\n        image = image[:, ::-1, :]\n", (5, None)),
        ("    if random.random() < 0.5:\n        image = np.flip(image, 1)\n" + BOTH, (2, None)),
        (BOTH + "    if random.random() < 0.5:\n        mask = mask.flip(-1)\n", (None, 5)),
        (BOTH + "    if random.random() < 0.5:\n        image = np.ascontiguousarray(image[:, ::-1])\n", (5, None)),
        ("    image = image[::-1]\n" + BOTH, (None, None)),
        ("    image = hflip(image) if random.random() < 0.5 else image\n" + BOTH, (1, None)),
        ("    a = random.random() < 0.5\n    if a:\n        image = image.flip(1)\n"
         "    if a:\n        mask = mask.flip(1)\n", (None, None)),
        ("    if random.random() < 0.5:\n        image = image.flip(1)\n"
         "    else:\n        mask = mask.flip(1)\n", (2, 4)),
        ("    if random.random() < 0.5:\n        image = image.flip(1)\n        mask[:, 0] = 9 - mask[:, 2]\n",
         (None, None)),
        ("    if random.random() < 0.5:\n        image, mask = np.flip(image, 1), np.flip(mask, 1)\n", (None, None)),
    ],
)  # fmt: skip
def test_the_turn_in_a_branch_of_its_own(tmp_path: Path, body: str, expected: tuple[int | None, int | None]) -> None:
    assert told(tmp_path, body) == expected


def test_nothing_without_lines() -> None:
    assert turned_alone((), ()) == (None, None)
