"""Facts about numbers that JSON cannot hold."""

import math

import msgspec
import pytest
import torch

from debugtracer.trace.number import Number, as_float, number, symbolic


def test_a_finite_float_stays_one() -> None:
    assert number(1) == 1.0
    assert type(number(1)) is float


def test_the_others_travel_as_words_and_come_back() -> None:
    assert [number(x) for x in (math.nan, math.inf, -math.inf)] == ["NaN", "Infinity", "-Infinity"]
    assert math.isnan(as_float("NaN"))
    assert (as_float("Infinity"), as_float("-Infinity")) == (math.inf, -math.inf)


def test_a_size_known_as_a_symbol_is_minus_one():
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged)
    assert symbolic(nested.shape[1]) == -1
    with pytest.raises(TypeError, match="of type set is unsupported"):
        symbolic(set())


@pytest.mark.parametrize("word", ["", "nan", "inf", "1.5", "NaN "])
def test_any_other_word_is_damage_that_is_seen_when_it_is_read(word: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(word, Number)
