"""One test over many things."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.each import each


@each("number", [1, 2, 3])
def test_each_is_asked_and_fixtures_are_given(number: int, tmp_path: Path) -> None:
    assert number in (1, 2, 3)
    assert tmp_path.is_dir()


def test_all_that_failed_are_listed() -> None:
    @each("number", [1, 2, 3], of=lambda number: f"no. {number}")
    def odd(number: int) -> None:
        assert number % 2, "even"

    @each("number", [2, 4])
    def broken(number: int) -> None:
        raise ValueError("of its own")

    with pytest.raises(AssertionError, match=r"1 of 3:\n  no\. 2: AssertionError: even"):
        odd()
    with pytest.raises(AssertionError, match=r"2 of 2:\n  2: ValueError: of its own\n  4: ValueError"):
        broken()


def test_nothing_to_ask_is_an_error() -> None:
    with pytest.raises(AssertionError, match="there is no check"):
        each("check", [])
