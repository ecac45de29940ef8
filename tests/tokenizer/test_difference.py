"""The grammar of an answer."""

from __future__ import annotations

from debugtracer.tokenizer.difference import different, noted, short, shown, unmeasured


def test_the_message_is_where_seen_expected_and_what_to_do():
    assert different("padding", "serve", "left", "right", "set it").message == "serve - left - expected right - set it"
    assert [
        d.state for d in (different("a", "b", "c", "d", "e"), noted("a", "b", "c", "d", "e"), unmeasured("a", "why"))
    ] == [
        "different",
        "note",
        "not measurable",
    ]


def test_a_long_list_shows_its_first_items_and_how_many_more():
    assert shown(["a", "b", "c", "d", "e"]) == "'a', 'b', 'c' and 2 more"
    assert shown(["a"]) == "'a'"


def test_a_long_text_is_shown_short_and_on_one_line():
    assert short("a\nb") == "'a\\nb'"
    assert short("x" * 500).endswith("(500 characters)") and len(short("x" * 500)) < 60
