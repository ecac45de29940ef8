"""Where infinities were written."""

from __future__ import annotations

from pathlib import Path

from debugtracer.callsites.origins.infinity_origin import infinite_line
from debugtracer.trace.birth import Frame

TEXT = """\
def log_sum_exp(x):
    m = x.max()
    return m + (x - m).exp().log()
def partition(h):
    score = torch.zeros(3).fill_(-float("inf"))
    score[:, 0] = 0.0
    for step in h:
        total = score + step
        total = log_sum_exp(total)
        other = log_sum_exp(step)
    return total
y = partition(h)
"""


def frames(tmp_path: Path, *lines: int) -> list[Frame]:
    file = tmp_path / "crf.py"
    file.write_text(TEXT)
    return [Frame(str(file), line) for line in lines]


def test_the_nearest_write_behind_what_the_helper_was_given(tmp_path: Path) -> None:
    found = infinite_line(frames(tmp_path, 3, 9, 12))
    assert found is not None
    assert (found.line, found.function) == (5, "partition")


def test_finite_scores_and_a_line_without_a_caller(tmp_path: Path) -> None:
    assert infinite_line(frames(tmp_path, 3, 10, 12)) is None
    assert infinite_line(frames(tmp_path, 3)) is None
    assert infinite_line(frames(tmp_path, 8, 12)) is None
    assert infinite_line([]) is None
