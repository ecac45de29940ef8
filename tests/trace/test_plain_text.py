"""Text without terminal escapes."""

from __future__ import annotations

from debugtracer.trace.plain_text import plain_text


def test_colours_and_links_are_taken_out():
    assert plain_text("\x1b[1mbold\x1b[0m and \x1b[38;5;1mred") == "bold and red"
    assert plain_text("\x1b]8;;file://a\x07a\x1b]8;;\x07") == "a"


def test_any_other_text_is_left_as_it_is():
    assert plain_text("x[1m] = 3\n") == "x[1m] = 3\n"
