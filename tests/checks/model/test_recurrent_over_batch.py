"""Recurrent layers that run along the batch."""

from __future__ import annotations

from debugtracer.checks.model.recurrent_over_batch import RecurrentOverBatch
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.facts_at import judged, line, ref


def test_the_layer_is_told_where_it_is_made():
    fact = FunctionTest(
        ref=ref(), trial="over_batch", root="Tide", changed=True, module="rnn", length=24, frame=line(14)
    )
    (finding,) = judged(RecurrentOverBatch(), [fact])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "axes_mixed", line(14))
    assert finding.message == (
        "step 0, rank 0: rnn (train.py:14) has batch_first=False and is given the batch first, so its state runs along "
        "the samples and not along the 24 steps; expected steps in its first dimension. Pass batch_first=True."
    )


def test_samples_that_depend_on_each_other_otherwise_are_silent():
    fact = FunctionTest(ref=ref(), trial="other_samples", root="Tide", changed=True, position=3)
    assert judged(RecurrentOverBatch(), [fact]) == []
