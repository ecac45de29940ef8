"""Bayes by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.likelihood import UNKNOWN

TABLE = {("a", "x"): 0.9, ("b", "x"): 0.1, (UNKNOWN, "x"): 0.3}


def likelihood(cause, intervention):
    return TABLE.get((cause, intervention), 0.5)


def test_even_odds_stand_level_with_unknown():
    assert Belief.of({"a": 0.5}).shares() == {"a": 0.5, UNKNOWN: 0.5}


def test_nine_to_one_is_three_bits_and_a_bit():
    assert Belief.of({"a": 0.9}).bits["a"] == pytest.approx(math.log2(9))


def test_an_outcome_moves_each_by_what_it_expected():
    belief = Belief.of({"a": 0.5, "b": 0.5})
    belief.likelihood = likelihood
    belief.observe("x", True)
    assert belief.bits == pytest.approx({UNKNOWN: 0.0, "a": math.log2(0.9 / 0.3), "b": math.log2(0.1 / 0.3)})
    assert next(iter(belief.shares())) == "a"
    assert belief.shares()["a"] == pytest.approx(0.9 / 1.3)


def test_a_failure_speaks_too():
    belief = Belief.of({"a": 0.5})
    belief.likelihood = likelihood
    belief.observe("x", False)
    assert belief.bits["a"] == pytest.approx(math.log2(0.1 / 0.7))


def test_doubt_is_one_bit_between_two():
    assert Belief.of({"a": 0.5}).entropy() == pytest.approx(1.0)


def test_a_trial_that_all_expect_alike_tells_nothing():
    belief = Belief.of({"a": 0.7, "b": 0.6})
    belief.likelihood = lambda cause, intervention: 0.4
    assert belief.gain("x") == pytest.approx(0.0, abs=1e-9)


@given(
    st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0.02, 0.98), st.floats(0.02, 0.98), st.floats(0.02, 0.98)
)
def test_a_trial_never_adds_doubt_on_average(one, other, p, q, r):
    belief = Belief.of({"a": one, "b": other})
    table = {"a": p, "b": q, UNKNOWN: r}
    belief.likelihood = lambda cause, intervention: table[cause]
    assert belief.gain("x") >= -1e-9
