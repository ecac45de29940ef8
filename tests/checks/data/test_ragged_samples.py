"""Samples that do not stack."""

from __future__ import annotations

from debugtracer.checks.data.ragged_samples import RaggedSamples
from debugtracer.trace.facts.crash import SampleSeen, differing_part
from tests.checks.crashes import LOADER, a_batch, a_crash, silent_on_another_error, told

TEXT = "stack expects each tensor to be equal size, but got [3] at entry 0 and [4] at entry 1"


def samples(*shapes):
    return tuple(SampleSeen(index=10 + i, shapes=(("sample[0]", shape),)) for i, shape in enumerate(shapes))


def test_the_odd_samples_are_named():
    (finding,) = told(
        RaggedSamples(), a_crash(TEXT, fetching=True, samples=samples("(3,)", "(3,)", "(4,)"), batch=a_batch(None))
    )
    assert finding.message == (
        "step 5, rank 0: the samples of one batch of the loader (train.py:27) do not stack: sample[0] is (3,) in 2 "
        "samples and (4,) in 1 (sample 12); "
        "expected one shape. Pad or convert them in the dataset, or give a collate_fn."
    )
    assert (finding.place.frame, finding.place.sample_index) == (LOADER, (12,))


def test_the_same_error_outside_a_loader_is_the_programs_own_stack():
    assert told(RaggedSamples(), a_crash(TEXT)) == []


def test_equal_samples_have_no_odd_one():
    assert differing_part(samples("(3,)", "(3,)")) is None


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(RaggedSamples())
