"""What counts as the same text and the same values on another processor."""

from __future__ import annotations

import pytest

from tests.same_words import differences

LAID_OUT = "  loss      4.317,\n            gradients finite"


@pytest.mark.parametrize(
    ("want", "got"),
    [
        ("the score is 6.477e+04 at train.py:80", "the score is 6.467e+04 at train.py:80"),
        ("finite -1.959 .. 3", "finite -1.96 .. 3"),
        ("loss 7 now", "loss 7.002 now"),
        ("2.04x as long", "2.05x as long"),
        (LAID_OUT, "  loss      4.3171, gradients\n            finite"),  # a wider number wraps its line elsewhere
        ({"a": [1.0, {"b": "at 2.00"}]}, {"a": [1.001, {"b": "at 2.01"}]}),
        ({"a": 0.0}, {"a": 1e-9}),
    ],
)
def test_rounding_is_no_difference(want: object, got: object) -> None:
    assert differences(want, got) == []


@pytest.mark.parametrize(
    ("want", "got", "said"),
    [
        ("the loss is bad", "the score is bad", "text: word 1 is 'score', expected 'loss'; after 'the'"),
        ("train.py:80", "train.py:81", "text: 81, expected 80"),
        ("8 of 64 NaN", "7 of 64 NaN", "text: 7, expected 8"),
        ("loss 4.3 now", "loss 4.4 now", "text: 4.4, expected 4.3"),
        ("one two", "one", "text: word 1 is '(end)', expected 'two'; after 'one'"),
        ("loss -1.5", "loss 1.5", "text: 1.5, expected -1.5"),
        ("float32", "float16", "text: word 0 is 'float16', expected 'float32'; after ''"),
        (
            LAID_OUT,
            LAID_OUT.replace("   gradients", "gradients"),
            "text: line 2 is laid out as '         gradients finite', expected '            gradients finite'",
        ),
        ({"a": 1}, {"b": 1}, ".a: missing"),
        ({"a": [1, 2]}, {"a": [1]}, ".a: 1 items, expected 2"),
        ({"a": True}, {"a": 1}, ".a: 1, expected True"),
        ({"a": None}, {"a": "x"}, ".a: 'x', expected None"),
        ([3], [4], "[0]: 4, expected 3"),
    ],
)
def test_everything_else_is_one(want: object, got: object, said: str) -> None:
    assert said in differences(want, got)


def test_what_a_later_version_adds_is_allowed_only_where_it_is_asked_for() -> None:
    assert differences({"a": 1}, {"a": 1, "b": 2}) == [".b: new"]
    assert differences({"a": 1}, {"a": 1, "b": 2}, more=True) == []
    assert differences({"a": 1}, {"b": 2}, more=True) == [".a: missing"]
