"""Does the output of one sample depend on the others?"""

from __future__ import annotations

from debugtracer.checks.model.cross_sample_leak import CrossSampleLeak
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.facts_at import judged, line, ref


def test_a_change_of_the_first_sample_is_a_note():
    (finding,) = judged(
        CrossSampleLeak(),
        [FunctionTest(ref=ref(), trial="other_samples", root="Model", changed=True, size=0.6, frame=line(21))],
    )
    assert finding.message == (
        "step 0, rank 0: the output of sample 0 changes by 0.6 standard deviations when other samples change (first in "
        "Model, line 21); "
        "expected no change. Look at the dimensions there."
    )
    assert finding.severity == "note"


def test_no_change_is_silent():
    assert not judged(CrossSampleLeak(), [FunctionTest(ref=ref(), trial="other_samples", root="Model", size=0.0)])


def test_samples_that_read_from_the_first_one_are_a_warning():
    fact = FunctionTest(
        ref=ref(), trial="other_samples", root="Net", changed=True, size=0.04, position=3, function="first",
        module="conv", frame=line(21),
    )  # fmt: skip
    (finding,) = judged(CrossSampleLeak(), [fact])
    assert (finding.severity, finding.confidence, finding.place.frame) == ("warning", 0.85, line(21))
    assert "sample 3 changes by 0.04 standard deviations when the first sample of the batch changes" in finding.message
    assert "first in conv, train.py:21" in finding.message
