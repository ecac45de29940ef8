"""The line of a text file that a record was read from."""

from __future__ import annotations

import pytest

from debugtracer.callsites import data_lines
from debugtracer.callsites.data_lines import named_files, record_line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "train.txt").write_text("".join(f"img/{i:03d}.jpg 1 2 {i % 3}\n" for i in range(20)))
    (tmp_path / "lists" / "all.txt").write_text("".join(f"img/{i:03d}.jpg 1 2 {i % 3}\n" for i in range(50)))
    (tmp_path / "notes.md").write_text("007.jpg\n")
    return tmp_path


class Listed:
    """A dataset that keeps the name of its file."""

    def __init__(self, *names):
        self.__dict__ = {f"file{i}": name for i, name in enumerate(names)}


def test_files_that_the_dataset_names(folder):
    found = named_files(ValueError(), Listed("lists/train.txt", "notes.md", "lists/none.txt"))
    names = [file.name for file in found if folder in file.parents]
    assert names[0] == "train.txt"
    assert not {"notes.md", "none.txt"} & set(names)


def test_the_only_line_with_the_name(folder):
    file = folder / "lists" / "train.txt"
    line = record_line([file], ["007.jpg"], 20)
    assert (line.file, line.line, line.code) == (str(file), 8, "img/007.jpg 1 2 1")
    assert record_line([file], ["07.jpg"], 20) is None
    assert record_line([file], ["1"], 20) is None
    assert record_line([], ["007.jpg"], 20) is None


def test_of_two_files_the_one_with_as_many_lines_as_records(folder):
    files = [folder / "lists" / "all.txt", folder / "lists" / "train.txt"]
    assert record_line(files, ["007.jpg"], 20).file.endswith("train.txt")
    assert record_line(files, ["007.jpg"], 49).file.endswith("all.txt")  # with a header
    assert record_line(files, ["007.jpg"], 35) is None


def test_files_that_a_settings_file_of_the_program_names(folder, monkeypatch):
    (folder / "run.yaml").write_text("data:\n  list: lists/train.txt\n  size: 3\n")
    monkeypatch.setattr("sys.argv", ["train.py", "run.yaml"])
    monkeypatch.setattr(data_lines, "program_files", lambda: None)  # this file names the other lists
    names = [file.name for file in named_files(ValueError()) if folder in file.parents]
    assert names == ["train.txt"]
    kinds = named_files(ValueError(), endings={".yaml"})
    assert [file.name for file in kinds if folder in file.parents] == ["run.yaml"]
