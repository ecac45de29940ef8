"""Where two counts change places."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from debugtracer.callsites.origins.exchanged_names import crossed, exchanged_names

MADE = "def made():\n    men, ways = 4, 9\n    return [1], {order}\n"
USED = "{line}\nraise IndexError\n"
BUILT = "class Net:\n    def __init__(self, men, ways, width=8):\n        pass\n"
CASES = {
    "returned": (MADE.format(order="ways, men") + USED.format(line="x, men, ways = made()"), (3, 4)),
    "in order": (MADE.format(order="men, ways") + USED.format(line="x, men, ways = made()"), None),
    "other names": (MADE.format(order="ways, men") + USED.format(line="x, a, b = made()"), None),
    "fewer": (MADE.format(order="ways, men") + USED.format(line="x, both = made()[0], made()[1:]"), None),
    "handed": (BUILT + USED.format(line="men, ways = 4, 9\nnet = Net(ways, men)"), (5, None)),
    "handed in order": (BUILT + USED.format(line="men, ways = 4, 9\nnet = Net(men, ways)"), None),
    "by keyword": (BUILT + USED.format(line="men, ways = 4, 9\nnet = Net(ways=ways, men=men)"), None),
    "other numbers": (BUILT + USED.format(line="men, ways = 4, 8\nnet = Net(ways, men)"), None),
}


@pytest.mark.parametrize("case", CASES)
def test_only_names_that_change_places_and_have_the_numbers(tmp_path: Path, case: str) -> None:
    text, lines = CASES[case]
    file = tmp_path / "train.py"
    file.write_text(text)
    try:
        exec(compile(text, str(file), "exec"), {"__name__": "train"})
    except IndexError:
        error = sys.exc_info()[1]
    assert error is not None
    found = exchanged_names(error, [str(file)], (4, 9))
    told = (found.given.line, found.taken.line if found.taken is not None else None) if found is not None else None
    assert told == lines


def test_each_pair_is_told_once():
    assert list(crossed(["x", "b", "a"], ["x", "a", "b"])) == [("b", "a")]
    assert list(crossed(["a", "b"], ["a", "b"])) == []
    assert list(crossed(["a", "b", "c"], ["b", "c", "a"])) == []
