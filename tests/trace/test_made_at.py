"""A chain of lines as a clause."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.made_at import made_at


def test_each_line_once_and_at_most_four():
    assert made_at(()) == ""
    assert made_at((Frame("/a/data.py", 9), Frame("/a/data.py", 9), Frame("/b/train.py", 20))) == (
        ", made at data.py:9 -> train.py:20"
    )
    assert made_at(tuple(Frame("a.py", line) for line in range(9))).count("->") == 3
