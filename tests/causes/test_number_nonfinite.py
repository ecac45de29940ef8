"""Numbers of the program that are NaN or Inf."""

from __future__ import annotations

import pytest

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import Frame

MADE = Frame("/home/someone/train.py", 16, "main", "beta = np.sqrt(1 - step / total)")


@pytest.mark.parametrize(("number", "word"), [("NaN", "nan"), ("Infinity", "inf"), ("-Infinity", "-inf")])
def test_an_op_that_was_given_such_a_number_is_told_with_the_line_that_made_it(number, word):
    birth = a_birth("aten::mul", a_tensor(4.0), kind="overflow", number=number, code="loss = ce + beta * reg")
    evidence = evidence_of("number-nonfinite", some_facts(birth, made=(MADE,)))
    assert evidence is not None
    assert (evidence.exact, evidence.confidence) == (False, 0.9)
    assert evidence.because.startswith(f"mul is given the number {word}, every tensor it reads is finite")
    assert evidence.place is not None
    assert evidence.place.frame == MADE


def test_without_the_line_that_made_it_the_op_keeps_its_own():
    birth = a_birth("aten::mul", number="NaN", code="loss = ce + beta * reg")
    evidence = evidence_of("number-nonfinite", some_facts(birth))
    assert evidence is not None
    assert evidence.place is None


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"number": None}, "loss = ce + beta * reg"),
        ({"number": "NaN", "direction": "update"}, "opt.step()"),
        ({"number": "-Infinity"}, "scores = scores + hidden * float('-inf')"),
        ({"number": "Infinity"}, "best = best * math.inf"),
        ({"number": "Infinity"}, "best = best + np.infty"),
    ],
    ids=["none", "an update", "minus infinity", "math.inf", "numpy"],
)
def test_numbers_that_are_meant_or_of_an_update_are_none(more, code):
    assert evidence_of("number-nonfinite", some_facts(a_birth("aten::mul", code=code, **more))) is None


def test_a_number_that_a_line_before_writes_as_minus_infinity_is_meant():
    birth = a_birth("aten::mul", number="-Infinity", code="scores = scores + (1 - mask) * NEG")
    made = Frame("/home/someone/train.py", 3, "<module>", 'NEG = -float("inf")')
    assert evidence_of("number-nonfinite", some_facts(birth, made=(made,))) is None
