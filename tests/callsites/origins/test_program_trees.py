"""Files of the user's are read as trees; a library's and what cannot be read are left out."""

from __future__ import annotations

import ast
from pathlib import Path

from debugtracer.callsites.origins.program_trees import programs_of


def test_of_several_files_the_users_own_are_trees(tmp_path: Path) -> None:
    own = tmp_path / "train.py"
    own.write_text("rate = 0.1\n")
    broken = tmp_path / "broken.py"
    broken.write_text("rate = (\n")

    programs = programs_of([str(own), str(broken), ast.__file__])

    assert [program.path for program in programs] == [own]
    assert programs_of(None) == []
