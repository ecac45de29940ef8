"""Lines that set an attribute of the dataset behind a part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.part_setting import part_settings
from debugtracer.source.program import parse

BOTH = "train.dataset.transform = Flip()\nvalid.dataset.transform = None\n"


def lines(text: str) -> dict[str, tuple[int, int]]:
    program = parse(Path("/p/train.py"), text.encode())
    assert program is not None
    return {name: (first.line, last.line) for name, (first, last) in part_settings([program]).items()}


def test_the_first_and_the_last_line_are_named() -> None:
    assert lines(BOTH) == {"transform": (1, 2)}
    assert lines("self.parts['a'].dataset.size = 3\nx = 1\nself.parts['b'].dataset.size = 4\n") == {"size": (1, 3)}


@pytest.mark.parametrize(
    "text",
    [
        "train.dataset.transform = Flip()\n",
        "train.dataset.transform = plain\nvalid.dataset.transform = plain\n",
        "train.dataset.transform = Flip()\ntrain.dataset.transform = Crop()\n",
        "train.dataset.transform = Flip()\nvalid.dataset.size = 3\n",
        "train.transform = Flip()\nvalid.transform = None\n",
    ],
    ids=["one", "the same value", "the same part", "two attributes", "no dataset behind it"],
)
def test_other_lines_are_none(text: str) -> None:
    assert lines(text) == {}
