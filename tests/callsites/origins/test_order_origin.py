"""The line that puts rows into another order, read from the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.order_origin import apart, order_of, placed, taken_from
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.trace.birth import Frame

HEAD = "import os\nimport numpy as np\nimport torch\n"
TAKEN = """\
def coded(raw):
    return np.eye(4)[raw]
def made():
    raw, order = load(), np.random.permutation(9)
    {}return coded(raw)
y = made()
use(y)"""


def at(tmp_path: Path, text: str) -> Frame:
    file = tmp_path / f"train_{abs(hash(text))}.py"
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
        ("y = load()\ny = y.permute(2, 0, 1)\nuse(y)", None),
        ("y = load()\ny = y.permute(2, 1, 0)\nuse(y)", 5),
        ("y = load()\nz = y.sort()\nuse(y)", None),
        ("y = load()\ny = y.transpose(0, 2, 1)\nuse(y)", None),
        ("y = load()\nn = list(range(9))\nnp.random.shuffle(n)\ny = [y[i] for i in n]\nuse(y)", 7),
        (TAKEN.format("raw = raw[order]\n    "), 8),
        (TAKEN.format(""), None),
    ],
)
def test_the_last_line_that_orders_is_found(tmp_path, text, line):
    found = order_of(origin("y", (at(tmp_path, text),)))
    assert (found.line if found else None) == line


def test_the_names_that_rows_are_taken_of_are_followed(tmp_path):
    stack = (at(tmp_path, "x = load()\nx = x.flip(0)\ni = [1]\nuse(x[i])"),)
    assert [order_of(links).line for links in taken_from(stack)] == [5]


def test_the_statement_that_writes_into_places_is_found(tmp_path):
    stack = (at(tmp_path, "y = torch.zeros(4, 4)\ny[2, 3] = 1\nz[1, 2] = 3\nuse(y)"),)
    assert placed(origin("y", stack)).line == 5
    assert placed(origin("y", (at(tmp_path, "y = torch.zeros(4, 4)\ny[2] = 1\nuse(y)"),))) is None


def test_what_orders_both_sides_is_left_out(tmp_path):
    stack = (at(tmp_path, "x, y = sorted(both())\nx = x[::-1]\nuse(x, y)"),)
    first, other = apart(origin("x", stack), origin("y", stack))
    assert [link.frame.line for link in first] == [5] and other == []
