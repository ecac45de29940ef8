"""Code inside code."""

from __future__ import annotations

from debugtracer.callsites.nested_code import with_nested


def outer():
    def inner():
        return [(lambda: 1) for _ in "ab"]

    return inner


def test_all_levels_the_outer_one_first() -> None:
    names = [code.co_name for code in with_nested(outer.__code__)]
    assert names[:2] == ["outer", "inner"]
    assert "<lambda>" in names
