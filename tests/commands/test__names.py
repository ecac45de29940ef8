"""Files are commands."""

from __future__ import annotations

from debugtracer.commands._names import names


def test_parts_of_the_command_line_are_no_commands():
    assert "run" in names()
    assert not {"app", "_group", "_names"} & set(names())
    assert names() == sorted(names())
