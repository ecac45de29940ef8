"""A line of a program in a message."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.file_line import file_line, spot


def test_a_line_is_told_without_its_folder_and_in_brackets_where_it_is_known():
    frame = Frame("/home/me/train.py", 53, "main", "loss.backward()")
    assert file_line(frame) == "train.py:53"
    assert spot(frame) == " (train.py:53)"
    assert spot(None) == ""
