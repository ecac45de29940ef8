"""What lies where a word is expected: it is read while it is small and a file, and never waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from debugtracer.trace.store.word_file import MOST_BYTES, take_word


@pytest.mark.parametrize(("text", "word"), [("stop\n", "stop"), (" Resume ", "resume"), ("a b", "a b")])
def test_a_word_is_taken_away_as_it_is_read(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "control"
    path.write_text(text)
    assert take_word(path) == word
    assert not path.exists()


def test_a_file_that_is_being_written_stays_until_its_word_is_there(tmp_path: Path) -> None:
    path = tmp_path / "control"
    with path.open("w") as writer:
        assert take_word(path) == ""
        writer.write("stop\n")
    assert take_word(path) == "stop"


def test_a_pipe_is_not_waited_for_and_a_device_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    assert [take_word(tmp_path / name) for name in ("pipe", "endless", "folder")] == [""] * 3


def test_of_a_large_file_a_word_s_length_is_read(tmp_path: Path) -> None:
    path = tmp_path / "control"
    path.write_bytes(b"\xff" * 10_000_000)
    assert len(take_word(path)) <= MOST_BYTES
    assert not path.exists()


def test_no_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        take_word(tmp_path / "control")
