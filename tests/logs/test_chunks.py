"""A log of any size, in whole lines; what is no text is refused in one sentence."""

from __future__ import annotations

import pytest

from debugtracer.errors import UsageError
from debugtracer.logs import chunks as module
from debugtracer.logs.chunks import chunks


def test_pieces_are_whole_lines_with_their_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_BYTES", 64)
    log = tmp_path / "log.txt"
    log.write_text("".join(f"line {number}\n" for number in range(1, 101)))
    read = [
        (piece.first + place, line)
        for piece in chunks(log)
        for place, line in enumerate(piece.text.split("\n"))
        if line
    ]
    assert read == [(number, f"line {number}") for number in range(1, 101)]


def test_terminal_escapes_are_removed(tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("\x1b[1;31mloss\x1b[0m nan\x1b]0;title\x07\n")
    assert [piece.text for piece in chunks(log)] == ["loss nan"]


@pytest.mark.parametrize("content", [b"\x00\x01\x02" * 900, b"PK\x03\x04\x14\x00\x00\x00"])
def test_a_binary_file_is_refused(tmp_path, content):
    log = tmp_path / "model.pt"
    log.write_bytes(content)
    with pytest.raises(UsageError, match=r"model\.pt is a binary file .*; expected the text log of a training run"):
        list(chunks(log))


def test_a_missing_file_and_a_folder_are_said_in_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="there is no such file"):
        list(chunks(tmp_path / "none"))
    with pytest.raises(UsageError, match="is a folder; expected a text log"):
        list(chunks(tmp_path))


def test_bytes_that_are_no_utf_8_do_not_stop_it(tmp_path):
    log = tmp_path / "log.txt"
    log.write_bytes(b"loss 1.0 \xff\xfe\nloss nan\n")
    assert [piece.text for piece in chunks(log)] == ["loss 1.0 ��\nloss nan"]
