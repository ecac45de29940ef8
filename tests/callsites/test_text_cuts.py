"""The line that cuts texts, and where its length is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites import text_cuts
from debugtracer.callsites.stored_entries import Held
from debugtracer.callsites.text_cuts import TextCut, text_cut

CUTS = """
class Texts:
    def __init__(self, rows, max_len=80):
        self.rows, self.max_len = rows, max_len

    def __getitem__(self, at):
        return self.rows[at][: self.max_len]
"""
SHOWS = """
def show(rows, few):
    return rows[:few], rows[2:few], rows[:7]
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "texts.py").write_text(CUTS)
    (tmp_path / "show.py").write_text(SHOWS)
    monkeypatch.setattr(text_cuts, "program_files", lambda: [str(tmp_path / "texts.py"), str(tmp_path / "show.py")])
    return tmp_path


def lines(found: TextCut | None) -> tuple[int, int, int | None] | None:
    if found is None:
        return None
    return found.frame.line, found.limit, found.written.line if found.written is not None else None


def test_the_slice_and_the_default(files: Path) -> None:
    held = [Held(80, "max_len", None), Held("80", "few", None)]
    assert lines(text_cut(held, 67)) == (7, 80, 3)


@pytest.mark.parametrize(
    ("held", "tokens"),
    [
        ([Held(80, "max_len", None)], 81),
        ([Held(80, "other", None)], 67),
        ([Held(80, "max_len", None), Held(90, "few", None)], 67),
        ([Held(80.0, "max_len", None)], 67),
    ],
    ids=["it cuts shorter", "another name", "two lines cut", "no whole number"],
)
def test_no_line_that_is_sure(files: Path, held: list[Held], tokens: int) -> None:
    assert text_cut(held, tokens) is None


def test_without_a_program_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_cuts, "program_files", lambda: None)
    assert text_cut([Held(80, "max_len", None)], 67) is None
