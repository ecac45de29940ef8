"""The line of a data file on which a number stands."""

from __future__ import annotations

import torch

from debugtracer.callsites.line_of_number import line_of_number, listed_files


def test_the_only_line_in_a_folder_that_the_program_names(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    lines = [f"{i}\t{i % 7}\t{1 + i % 5}\n" for i in range(50)]
    lines[17] = "17\t3\t1086393611\n"
    (folder / "ratings.txt").write_text("".join(lines))
    monkeypatch.setattr("sys.argv", ["run.py", "--data", str(folder)])
    assert folder / "ratings.txt" in list(listed_files())
    found = line_of_number(float(torch.tensor(1086393611.0)))  # as single precision keeps it
    assert found is not None
    assert (found.line, found.code) == (18, "17\t3\t1086393611")
    assert line_of_number(3.0) is None
    assert line_of_number(555123.0) is None
    (folder / "copy.txt").write_text("".join(lines))
    assert line_of_number(float(torch.tensor(1086393611.0))) is None
