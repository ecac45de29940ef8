"""What is said of values that were lost on the way."""

from __future__ import annotations

from debugtracer.checks.device.values_lost import ValuesLost
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_lost_values import lost


def found(**more: object) -> Finding:
    fact = lost(**more)
    (one,) = ValuesLost().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1}))
    return one


def test_an_input_that_was_computed():
    one = found()
    assert (one.severity, one.kind, one.place.frame, one.place.module) == (
        "warning", "silent_data_corruption", lost().frame, "upper",
    )  # fmt: skip
    assert one.message == (
        "step 246, rank 0: the input of upper (384 x 64, train.py:46) is 0 everywhere, though what made it cannot be; "
        "the loss is 4.02 (usual 1.15), and in 5 other steps it was not 0; expected the values that were computed. "
        "Compare both sides of that line, and look for what writes into this memory."
    )


def test_a_tensor_of_the_batch_with_samples_and_without():
    said = found(path="batch[1]", samples=(3, 9, 11, 12), frame=None).message
    assert "batch[1] (384 x 64) is 0 everywhere, though samples fetched again (3, 9, 11) hold other values and" in said
    assert "though the loader delivered other values and that line only moves them" in found(path="batch[1]").message


def test_an_input_that_is_0_by_right_is_not_lost():
    fact = lost(by_right=True)
    assert not list(ValuesLost().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1})))


def test_stays_silent_without_a_fact():
    assert not list(ValuesLost().judge(Window(lost().ref)))
