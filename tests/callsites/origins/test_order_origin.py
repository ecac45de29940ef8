"""The line that puts rows into another order, read from the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.order_origin import order_of, taken_from
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.trace.birth import Frame

HEAD = "import os\nimport numpy as np\nimport torch\n"


def at(tmp_path: Path, text: str) -> Frame:
    file = tmp_path / "train.py"
    file.write_text(HEAD + text)
    lines = file.read_text().splitlines()
    return Frame(str(file), len(lines), "<module>", lines[-1])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("y = load()\ny = np.sort(y)\nuse(y)", 5),
        ("y = load()\norder = y.argsort()\ny = y[order]\nuse(y)", 6),
        ("y = load()\ny = y[::-1].copy()\nuse(y)", 5),
        ("y = load()\nnp.random.shuffle(y)\nuse(y)", 5),
        ("names = sorted(os.listdir('.'))\ny = read(names[0])\nuse(y)", 4),
        ("y = load()\nuse(y)", None),
        ("y = load()\nz = y.sort()\nuse(y)", None),
    ],
)
def test_the_last_line_that_orders_is_found(tmp_path, text, line):
    found = order_of(origin("y", (at(tmp_path, text),)))
    assert (found.line if found else None) == line


def test_the_names_that_rows_are_taken_of_are_followed(tmp_path):
    stack = (at(tmp_path, "x = load()\nx = x.flip(0)\ni = [1]\nuse(x[i])"),)
    assert [order_of(links).line for links in taken_from(stack)] == [5]
