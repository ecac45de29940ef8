"""The line that splits the data of a loader."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest

from debugtracer.callsites.origins.split_line import split_line
from debugtracer.trace.birth import Frame

PROGRAM = """\
from torch.utils.data import DataLoader, Subset, random_split

def parts(data):
    return random_split(data, [80, 20])

def main(data):
    first, second = parts(data)
    third = Subset(data, range(9))
    one = DataLoader(first, 4)
    two = DataLoader(third, 4)
    three = DataLoader(data, 4)
"""


@pytest.fixture
def at(tmp_path: Path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return lambda line: Frame(str(file), line, "main", linecache.getline(str(file), line).strip())


def test_the_call_that_chose_the_rows(at):
    assert [getattr(split_line(at(line)), "line", None) for line in (9, 10, 11)] == [4, 8, None]


def test_the_first_loader_that_has_one(at):
    found = split_line(None, at(11), at(9))
    assert found is not None
    assert found.line == 4
