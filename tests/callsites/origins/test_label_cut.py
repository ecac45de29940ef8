"""Labels that are cut."""

from __future__ import annotations

from pathlib import Path

from debugtracer.callsites.origins.label_cut import label_cut
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.trace.birth import Frame

TEXT = """\
LIMIT = 24
def sample(q, a):
    labels = [-100] * len(q) + a
    return {"labels": labels[:LIMIT], "whole": labels[1:], "ten": labels[:10]}
one = sample(q, a)
y = one["labels"]
z = one["whole"]
t = one["ten"]
"""


def test_a_cut_to_the_width_of_the_batch(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(TEXT)
    cut = lambda name, width: label_cut(origin(name, [Frame(str(file), 9)]), width)  # noqa: E731
    found = cut("y", 24)
    assert found is not None
    assert found.line == 4
    assert cut("t", 10) == found
    assert cut("y", 23) is None
    assert cut("z", 24) is None
    assert label_cut((), 24) is None
