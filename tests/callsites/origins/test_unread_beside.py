"""The data that were made beside those of two loaders and that nothing reads."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest

from debugtracer.callsites.origins.unread_beside import unread_beside
from debugtracer.trace.birth import Frame

UNPACKED = """\
train, held = parts(data)
one = DataLoader(train, 4)
two = DataLoader(train, batch_size=8)
"""
CALLED = """\
class Module:
    def setup(self):
        self.train = Scans("train")
        self.held = Scans("held")

    def train_dataloader(self):
        return DataLoader(self.train, 4)

    def val_dataloader(self):
        return DataLoader(dataset=self.train, batch_size=4)
"""


@pytest.fixture
def found(tmp_path: Path):
    def ask(program: str, *lines: int):
        file = tmp_path / "program.py"
        file.write_text(program)
        linecache.checkcache(str(file))
        told = unread_beside(*(Frame(str(file), line, "f", "") for line in lines))
        return told and (told.name, told.line.line)

    return ask


def test_what_the_same_statement_unpacks(found):
    assert found(UNPACKED, 2, 3) == ("held", 1)


def test_what_the_same_call_makes(found):
    assert found(CALLED, 7, 10) == ("self.held", 4)


@pytest.mark.parametrize(
    "program",
    [
        UNPACKED + "print(len(held))\n",
        UNPACKED.replace("held", "_"),
        UNPACKED.replace("DataLoader(train, batch", "DataLoader(held, batch"),
        UNPACKED.replace("train, held = parts(data)", "train = parts(data)"),
        UNPACKED.replace("DataLoader(train, ", "DataLoader(make(train), "),
    ],
    ids=["read", "thrown away", "given", "alone", "wrapped"],
)
def test_nothing_is_left_over(found, program):
    assert found(program, 2, 3) is None


def test_two_lines_of_one_file_are_needed(found):
    assert found(UNPACKED, 2, 2) is None
    assert unread_beside(None, None) is None
