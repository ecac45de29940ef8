"""Writes in the other branch of a condition."""

from __future__ import annotations

import linecache
from pathlib import Path

from debugtracer.callsites.origins.other_branch import beside, other_branches
from debugtracer.callsites.origins.value_origin import origin, tree_of
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
    tree_of.cache_clear()
    found = origin("plain" if number == 10 else "data", [Frame(str(file), number, "load", "")])
    return [[other.frame.line for other in other_branches(link)] for link in found]


def test_the_writes_of_the_branch_that_is_not_the_nearest_are_found(tmp_path):
    assert lines(tmp_path, 8)[0] == [3, 5]


def test_a_write_outside_any_condition_has_none(tmp_path):
    assert lines(tmp_path, 10)[:2] == [[], []]


def test_a_branch_that_spoils_its_values_itself_keeps_the_others_out_and_cleaned_ones_do_not_count(tmp_path):
    file = tmp_path / "data.py"
    file.write_text("if a:\n    y = np.log(x)\n    y = np.nan_to_num(y)\nelse:\n    y = x / z\nuse(y)\n")
    tree_of.cache_clear()
    link = origin("y", [Frame(str(file), 6)])[0]
    assert list(other_branches(link)) == []
    file.write_text("if a:\n    y = np.nan_to_num(x)\n    y = np.log(y)\nelse:\n    y = x / z\nother(y)\n")
    linecache.clearcache()
    tree_of.cache_clear()
    link = origin("y", [Frame(str(file), 6)])[0]
    assert [one.frame.line for one in other_branches(link)] == [3]
    assert list(other_branches(link, lambda use, line: line == 5)) == []


def test_a_condition_with_another_branch_that_spoils(tmp_path):
    file = tmp_path / "data.py"
    file.write_text("if a:\n    y = np.log(x)\nelse:\n    y = x / z\nw = np.log(y)\n")
    tree_of.cache_clear()
    assert beside(Frame(str(file), 2), lambda use, line: line == 4)
    assert not beside(Frame(str(file), 2), lambda use, line: line == 2)
    assert not beside(Frame(str(file), 5), lambda use, line: True)
