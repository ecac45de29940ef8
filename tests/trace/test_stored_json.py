from __future__ import annotations

from typing import Any

import pytest

from debugtracer.trace.stored_json import MOST_CHARS, DamagedJson, decode_stored
from debugtracer.trace.verdict import Verdict


def said(content: bytes, kind: Any = dict[str, Any]) -> str:
    with pytest.raises(DamagedJson) as error:
        decode_stored(content, kind)
    return str(error.value)


def test_sound_json_comes_back() -> None:
    assert decode_stored(b'{"a": [1, "\xc3\xa4"]}', dict[str, Any]) == {"a": [1, "ä"]}


def test_a_byte_that_is_no_utf8_is_damage_like_any_other() -> None:
    assert said(b'{"a": "b\xffc"}') == "byte 0xff in a text is not UTF-8"


def test_a_torn_text_and_a_wrong_type_say_so() -> None:
    assert said(b'{"a": ') == "Input data was truncated"
    assert said(b"[1]") == "Expected `object`, got `array`"
    assert said(b'{"class": 3}', Verdict).endswith("at `$.class`")


def test_nesting_without_end_is_damage() -> None:
    assert said(b"[" * 100_000, list[Any])


def test_the_phrase_is_short_and_does_not_steer_a_terminal() -> None:
    text = said(b'{"status": "\\u001b[31m' + b"x" * 5000 + b'"}', dict[str, int])
    assert text.isprintable()
    long = said(b'{"' + b"k" * 5000 + b'": 1}', dict[int, int])
    assert len(long) <= MOST_CHARS
