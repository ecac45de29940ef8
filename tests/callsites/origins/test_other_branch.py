"""Writes in the other branch of a condition."""

from __future__ import annotations

from pathlib import Path

from debugtracer.callsites.origins.other_branch import other_branches
from debugtracer.callsites.origins.value_origin import origin, program_of
from debugtracer.trace.birth import Frame

SOURCE = """\
def load(values, scale, half):
    if scale:
        data = values / values.std(0)
        if half:
            data = data / 2
    else:
        data = values
    other = data
    plain = other
    return plain
"""


def lines(tmp_path: Path, number: int) -> list[list[int]]:
    file = tmp_path / "data.py"
    file.write_text(SOURCE)
    program_of.cache_clear()
    found = origin("plain" if number == 10 else "data", [Frame(str(file), number, "load", "")])
    return [[other.frame.line for other in other_branches(link)] for link in found]


def test_the_writes_of_the_branch_that_is_not_the_nearest_are_found(tmp_path):
    assert lines(tmp_path, 8)[0] == [3, 5]


def test_a_write_outside_any_condition_has_none(tmp_path):
    assert lines(tmp_path, 10)[:2] == [[], []]
