"""A docstring reads the same whatever the width of its source."""

from __future__ import annotations

from debugtracer.docstrings import WIDTH, refilled, title


def test_the_title_is_the_whole_first_paragraph() -> None:
    assert title("One sentence\nover two lines.\n\nMore.") == "One sentence over two lines."
    assert title("One.") == "One."
    assert title("") == ""


def test_two_widths_of_the_same_text_are_refilled_alike() -> None:
    narrow = "one two\nthree\n\n  a =\n  b\n" + "word " * 40
    wide = "one two three\n\n  a = b\n" + "word " * 20 + "\n" + "word " * 20
    assert refilled(narrow) == refilled(wide)


def test_indents_and_blank_lines_stay_and_lines_fit() -> None:
    text = refilled("one\ntwo\n\n\n  deeper\n" + "word " * 60 + "\n  again")
    lines = text.split("\n")
    assert lines[:4] == ["one two", "", "", "  deeper"]
    assert lines[-1] == "  again"
    assert max(map(len, lines)) <= WIDTH


def test_a_word_longer_than_the_page_stays_whole() -> None:
    word = "a-b" * WIDTH
    assert refilled(f"see {word} there").split("\n") == ["see", word, "there"]
