"""Values that are cut out of longer ones."""

from __future__ import annotations

from pathlib import Path

from debugtracer.callsites.origins.cut_line import cut_first
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.trace.birth import Frame

TEXT = """\
def sample(text):
    ids = text + 1
    return {"x": ids[:-1], "y": ids[2:]}
def stacked(rows):
    return torch.stack([row for row in rows])
one = sample(text)
y = stacked(one["y"])
x = stacked(one["x"])
"""


def test_the_line_that_leaves_out_what_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(TEXT)
    found = lambda name, later: [f.line for f in cut_first(origin(name, [Frame(str(file), 9)]), later)]  # noqa: E731
    assert found("y", True) == [3, 6, 5, 7]
    assert found("x", True)[0] == 5
    assert found("x", False)[0] == 3
    assert cut_first(()) == ()
