"""How a call was written."""

from __future__ import annotations

import pytest

from debugtracer.callsites.keywords_given import arguments_at, written_arguments


def note(*args, **kwargs):
    return written_arguments()


class Caller:
    """Its frame is a user's; `note` would be the innermost one otherwise."""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(x)", (1, ())),
        ("f(x, 0.5)", (2, ())),
        ("f(x, p=0.5)", (2, ("p",))),
        ("f(x, 0.5, training=True)", (3, ("training",))),
        ("f(*x)", None),
        ("g(f(x, p=1), 2)", (2, ("p",))),
    ],
)
def test_arguments_and_keywords_are_read_from_the_call(source, expected):
    import sys

    seen = []

    def f(*args, **kwargs):
        frame = sys._getframe(1)
        seen.append(arguments_at(frame.f_code, frame.f_lasti))

    exec(compile(source, "<program>", "exec"), {"f": f, "x": [1], "g": lambda *a: None})
    assert seen == [expected]


def test_the_innermost_line_of_the_user_counts():
    assert note(1, 2) == (0, ())
