"""The line that writes one number into a part of something."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites import part_writes
from debugtracer.callsites.part_writes import part_write


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("IGNORE = -100\ndef f(label, n):\n    label[:n] = IGNORE\n", 3),
        ("def f(label, n):\n    label[:n] = -100\n", 2),
        ("class C:\n    IGNORE = -100\n\n    def f(self, label, n):\n        label[:n] = self.IGNORE\n", 5),
        ("def f(label, n):\n    label[:n] = -100\n    label[n] = -100\n", None),
        ("IGNORE = -100\ndef f(label, n):\n    label = IGNORE\n    other[n] = -1\n", None),
        ("", None),
    ],
    ids=["a constant", "written out", "of a class", "two lines", "no part", "nothing"],
)
def test_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, line: int | None) -> None:
    (tmp_path / "prepare.py").write_text(source)
    monkeypatch.setattr(part_writes, "program_files", lambda: [str(tmp_path / "prepare.py")])
    found = part_write(-100)
    assert (found.line if found is not None else None) == line


def test_without_a_program_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_writes, "program_files", lambda: None)
    assert part_write(-100) is None
