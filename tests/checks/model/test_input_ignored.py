"""Does the output depend on the input?"""

from __future__ import annotations

from debugtracer.checks.model.input_ignored import InputIgnored
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.facts_at import judged, ref


def test_the_same_output_for_other_inputs_is_a_note():
    (finding,) = judged(InputIgnored(), [FunctionTest(ref=ref(), trial="any_input", root="Net", changed=True)])
    assert finding.message == (
        "step 0, rank 0: Net gives the same output when the samples of the batch change places; expected other outputs "
        "for other inputs. "
        "Follow the input through forward."
    )
    assert finding.severity == "note"


def test_an_output_that_follows_its_input_is_silent():
    assert not judged(InputIgnored(), [FunctionTest(ref=ref(), trial="any_input", root="Net")])
