"""Labels beyond the classes of a loss."""

from __future__ import annotations

from debugtracer.checks.data.target_out_of_bounds import TargetOutOfBounds, outside
from debugtracer.trace.facts.crash import IntegerRows
from tests.checks.crashes import a_crash, seen, silent_on_another_error, told

ROWS = IntegerRows(name="target", values=((0, 0), (7, 7), (), (3, 3)), indices=(40, 41, 42, 43))


def test_the_samples_and_the_range_are_named():
    crash = a_crash(
        "Target 7 is out of bounds.",
        "IndexError",
        torch_calls=("cross_entropy",),
        tensors=(seen("input", 4, 7),),
        rows=ROWS,
    )
    (finding,) = told(TargetOutOfBounds(), crash)
    assert finding.message == (
        "step 5, rank 0: cross_entropy was given class 7 in 1 of 4 rows (sample 41); the input has 7 classes; expected "
        "0..6. Map the labels, or "
        "give the head more outputs."
    )
    assert (finding.place.sample_index, finding.place.batch_rows) == ((41,), (1,))


def test_without_the_tensors_the_text_is_all_there_is():
    (finding,) = told(TargetOutOfBounds(), a_crash("Target -1 is out of bounds.", "IndexError"))
    assert "was given class -1; expected a class that the input has a column for" in finding.message


def test_at_the_edge():
    assert outside(ROWS, 8) == ()
    assert outside(ROWS, 7) == (1,)
    assert outside(IntegerRows(name="target", values=((-1, 2),)), 7) == (0,)


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(TargetOutOfBounds())


def test_a_class_below_0_of_one_hot_is_said_to_be_one():
    (found,) = told(TargetOutOfBounds(), a_crash("Class values must be non-negative.", torch_calls=("one_hot",)))
    assert "one_hot was given a class below 0; expected a class" in found.message
    (large,) = told(
        TargetOutOfBounds(), a_crash("Class values must be smaller than num_classes.", torch_calls=("one_hot",))
    )
    assert "one_hot was given a class that is too large; expected" in large.message
