"""The files of a program."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from debugtracer.callsites import program_files
from debugtracer.callsites.program_files import imported_files, with_words
from debugtracer.callsites.program_files import program_files as all_files


def test_files_of_the_user_are_listed_and_a_librarys_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ModuleType("made")
    made.__file__ = "/somewhere/made.py"
    monkeypatch.setitem(sys.modules, "made", made)
    assert "/somewhere/made.py" in imported_files()
    assert pytest.__file__ not in imported_files()


def test_a_script_that_is_two_modules_is_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("made", "made_again"):
        made = ModuleType(name)
        made.__file__ = "/somewhere/made.py"
        monkeypatch.setitem(sys.modules, name, made)
    assert imported_files().count("/somewhere/made.py") == 1


def test_a_notebook_and_a_large_program_are_not_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    script = ModuleType("__main__")
    script.__file__ = "/somewhere/train.py"
    monkeypatch.setitem(sys.modules, "__main__", script)
    monkeypatch.setattr(program_files, "MOST", len(imported_files()))
    assert all_files() == imported_files()
    monkeypatch.setattr(program_files, "MOST", len(imported_files()) - 1)
    assert all_files() is None
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    assert all_files() is None


def test_files_are_chosen_by_words_in_their_text(tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("a = shuffle(x)\nb = reshuffle(x)\n")
    two.write_text("a = shuffle(x)\nb = shuffle(x)\n")
    words = re.compile(r"\bshuffle\(")
    assert with_words([str(one), str(two)], words) == [str(one), str(two)]
    assert with_words([str(one), str(two)], words, 2) == [str(two)]
