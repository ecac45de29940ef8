"""Lines that read and write attributes of a name."""

from __future__ import annotations

import dis

import pytest

from debugtracer.callsites import attribute_lines
from debugtracer.callsites.attribute_lines import attribute_written, is_attribute_read, stored_attribute

TEXT = """
class Trainer:
    def __init__(self, made):
        self.plan = made(1)
        self.rate = made(2)
        self.word = made(3)
        self.twice = made(4)
        self.twice = made(5)
        print(self.rate, getattr(self, "word"))
"""


@pytest.fixture(autouse=True)
def _file(tmp_path, monkeypatch):
    file = tmp_path / "program.py"
    file.write_text(TEXT)
    monkeypatch.setattr(attribute_lines, "program_files", lambda: [str(file)])


@pytest.mark.parametrize(("name", "read"), [("plan", False), ("rate", True), ("word", True), ("elsewhere", False)])
def test_an_attribute_is_read_by_its_name_or_a_string(name, read):
    assert is_attribute_read(name) is read


def test_where_the_files_are_not_known_it_may_be_read(monkeypatch):
    monkeypatch.setattr(attribute_lines, "program_files", lambda: None)
    assert is_attribute_read("plan")
    assert attribute_written("plan") is None


def test_the_only_line_that_writes_it():
    found = attribute_written("plan")
    assert (found.line, found.function, found.code) == (4, "__init__", "self.plan = made(1)")
    assert attribute_written("twice") is None


def test_the_attribute_that_takes_the_value_of_a_call():
    code = compile("self.plan = made(1)\nname = made(2)\nmade(3)\n", "program.py", "exec")
    calls = [step.offset for step in dis.get_instructions(code) if step.opname in ("CALL", "CALL_FUNCTION")]
    assert [stored_attribute(code, at) for at in calls] == ["plan", "", ""]
