"""The line that reshaped a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.value_origin import origin
from debugtracer.callsites.origins.view_lines import view_line
from debugtracer.trace.birth import Frame

HEAD = "import numpy as np\nraw = np.load('pixels')\n"


def line_of(tmp_path: Path, body: str) -> int | None:
    """The line that is found for `x`, counted from the first of the body."""
    file = tmp_path / "train.py"
    file.write_text(HEAD + body)
    found = view_line(origin("x", [Frame(str(file), 100)]))
    return found.line - HEAD.count("\n") if found is not None else None


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("x = raw.reshape(-1, 3, 32, 32)\n", 1),
        ("y = raw.reshape((-1, 3, 32, 32))\nx = y / 255\n", 1),
        ("y = raw.view(8, 3, 4)\nz = y.permute(0, 2, 1)\nx = z * 2\n", 1),
        ("y = raw.reshape(8, 3, 4)\nx = y[0].astype(float) / 255 - 0.3\n", 1),
        ("x = raw.view(np.uint8)\n", None),
        ("x = raw / 255\n", None),
    ],
)
def test_the_call_with_sizes_is_found(tmp_path, body, line):
    assert line_of(tmp_path, body) == line
