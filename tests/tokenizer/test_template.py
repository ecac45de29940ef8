"""Chat templates."""

from __future__ import annotations

from debugtracer.tokenizer.loaded import load
from debugtracer.tokenizer.template import chat, first_difference
from tests.tokenizer.building import CHAT, a_tokenizer


def with_template(folder, template):
    def change(own):
        own.chat_template = template

    return load(a_tokenizer(folder, change))


def test_the_same_template_says_nothing(tmp_path):
    assert list(chat(with_template(tmp_path / "a", CHAT), with_template(tmp_path / "b", CHAT))) == []


def test_a_template_that_one_side_lacks(tmp_path):
    some, none = with_template(tmp_path / "a", CHAT), with_template(tmp_path / "b", None)
    assert "no template 'default'" in next(chat(some, none)).message
    assert "that train has not" in next(chat(none, some)).message


def test_another_result_is_a_difference_shown_at_its_place(tmp_path):
    serve = with_template(tmp_path / "b", CHAT.replace("\n", "</s>"))
    (found,) = chat(with_template(tmp_path / "a", CHAT), serve)
    assert found.state == "different" and "</s>" in found.message and "are you?\\n" in found.message


def test_another_text_with_the_same_result_is_a_note(tmp_path):
    serve = with_template(tmp_path / "b", CHAT.replace("m['role']", "m.role"))
    (found,) = chat(with_template(tmp_path / "a", CHAT), serve)
    assert found.state == "note" and "the same result for 3 conversations" in found.message


def test_a_template_that_refuses_a_conversation_differs(tmp_path):
    strict = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHAT
    (found,) = chat(with_template(tmp_path / "a", CHAT), with_template(tmp_path / "b", strict))
    assert found.state == "different" and "refuses a conversation - expected" in found.message


def test_where_two_texts_part():
    assert first_difference("abc", "abd") == 2 and first_difference("ab", "abc") == 2 and first_difference("", "") == 0
