"""Adapted weights that the loss does not know of."""

from __future__ import annotations

from debugtracer.checks.model.adapted_unused import AdaptedUnused
from debugtracer.trace.facts.adapted_weights import AdaptedWeights
from tests.checks.facts_at import judged, line, ref


def seen(step, made=7):
    return AdaptedWeights(
        ref=ref(step), weights=4, tensors=8, tried=2, frame=line(9), made_frame=line(made), backward_frame=line(12)
    )


def test_two_looks_are_told_once():
    (finding,) = judged(AdaptedUnused(), [seen(0), seen(1), seen(2)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "adapted_weights_unused", line(9))
    assert finding.message == (
        "step 1, rank 0: 4 weights are adapted by their gradients (train.py:7), and the loss of the step (backward at "
        "train.py:12) does not depend on one of the 8 tensors: the model is called with the weights before "
        "(train.py:9); expected a loss of the adapted ones. Call the model with them."
    )


def test_one_look_and_looks_at_other_lines_are_silent():
    assert judged(AdaptedUnused(), [seen(0)]) == []
    assert judged(AdaptedUnused(), [seen(0), seen(1, made=8)]) == []
