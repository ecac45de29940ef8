"""The statement on a line, and the names in it."""

from __future__ import annotations

from pathlib import Path

from debugtracer.replay.fetch.statements import statement_at
from tests.replay.fetch.pipelines import line_of, module


def test_a_statement_knows_its_names(tmp_path: Path):
    made = module(tmp_path)
    found = statement_at(made.Rows.__getitem__.__code__, line_of("self.asked += 1"))
    assert found is not None
    assert set(found.names) == {"self.asked", "self"}


def test_a_header_is_its_own_lines_alone(tmp_path: Path):
    made = module(tmp_path)
    found = statement_at(made.Stream.__iter__.__code__, line_of("for row in self.table"))
    assert found is not None
    assert set(found.names) == {"row", "self.table", "self"}
    inner = statement_at(made.Stream.__iter__.__code__, line_of("share = row"))
    assert inner is not None
    assert inner.one_line


def test_a_function_of_a_library_has_none():
    assert statement_at(Path.exists.__code__, Path.exists.__code__.co_firstlineno + 1) is None
