"""Facts about the where of a message."""

from debugtracer.trace.step import StepRef


def test_it_reads_as_step_and_rank() -> None:
    assert str(StepRef(iteration=9, step=7)) == "step 7, rank 0"


def test_a_microbatch_is_named_from_the_second_on() -> None:
    assert str(StepRef(iteration=9, step=7, microbatch=2, rank=1)) == "step 7, microbatch 2, rank 1"
