from __future__ import annotations

import pytest

from debugtracer.checks.device.weight_mutation import WeightMutation
from debugtracer.trace.facts.weights_at_rest import ValueChanged
from tests.checks.windows import ref, told


def change(
    step: int = 40,
    after: float = -7e-21,
    bits: int = 1,
    bit: int = 29,
    written: bool = False,
    what: str = "parameter",
    count: int = 1,
) -> ValueChanged:
    return ValueChanged(
        ref=ref(step),
        param="fc.weight",
        what=what,
        index=(7, 3),
        before=-0.1307,
        after=after,
        rms=0.16,
        bits=bits,
        bit=bit,
        width=32,
        written=written,
        count=count,
    )


def found(*facts: ValueChanged):
    memories: dict = {}
    return [
        finding
        for fact in facts
        for finding in WeightMutation().judge(told(fact, step=fact.ref.step, memories=memories))
    ]


def test_one_high_bit_that_nothing_wrote_is_a_proof():
    (one,) = found(change())
    assert (one.severity, one.kind, one.exact, one.place.param, one.place.module) == (
        "error",
        "silent_data_corruption",
        True,
        "fc.weight",
        "fc",
    )
    assert one.message == (
        "step 40, rank 0: fc.weight[7, 3] changed from -0.1307 to -7e-21 between two updates (1 bit, number 29 of 32), "
        "and no operator wrote it; expected "
        "only the optimizer to change it. Restore a checkpoint from before this step and test the memory."
    )


def test_a_value_far_out_that_an_operator_wrote_is_no_proof():
    (one,) = found(change(after=1e4, bits=15, bit=31, written=True))
    assert (one.exact, one.confidence) == (False, 0.9)


@pytest.mark.parametrize(
    "quiet", [change(after=-0.13, bits=9, bit=14), change(after=-0.1306, bits=1, bit=3)], ids=["clamped", "low bit"]
)
def test_small_changes_are_the_programs(quiet):
    assert found(quiet) == []


def test_a_habit_is_the_programs():
    assert len(found(*(change(step) for step in range(40, 60)))) == 2


def test_not_a_number_is_far_out():
    far = ValueChanged(
        ref=ref(1),
        param="a",
        what="exp_avg",
        index=(0,),
        before=0.1,
        after="NaN",
        rms=0.1,
        bits=9,
        bit=30,
        width=32,
        written=False,
    )
    (one,) = found(far)
    assert "exp_avg of a[0] changed from 0.1 to nan" in one.message


def test_several_elements_far_beyond_all_before_are_told_and_never_proved():
    (one,) = found(change(after=9.0, bits=9, bit=30, count=512))
    assert (one.kind, one.exact, one.confidence) == ("silent_data_corruption", False, 0.8)
    assert (
        "fc.weight[7, 3] and 511 more elements changed from -0.1307 to 9 between two updates (the largest of them "
        "now), and no op"
    ) in one.message


@pytest.mark.parametrize(
    "quiet",
    [
        change(after=9.0, count=512, written=True),
        change(after=1.2, count=512),
        change(after=9.0, count=512, what="exp_avg"),
    ],
    ids=["the program wrote a parameter", "a new start", "a moment rescaled"],
)
def test_several_elements_that_a_program_may_write_are_silent(quiet):
    assert found(quiet) == []


def test_a_moment_of_several_elements_is_the_optimizers_alone():
    (one,) = found(change(after=90.0, count=512, written=True, what="exp_avg"))
    assert (one.exact, "an operator of the program wrote it" in one.message) == (False, True)
