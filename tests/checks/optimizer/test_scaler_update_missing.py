"""A scaler that is not updated."""

from __future__ import annotations

from debugtracer.checks.optimizer.scaler_update_missing import ScalerUpdateMissing
from debugtracer.trace.facts.amp import ScalerRefused
from tests.checks.optimizer.seen import at, found, line


def test_it_names_the_step_after_which_the_update_is_missing():
    fact = ScalerRefused(ref=at(1), what="stepped twice", frame=line(28), before=line(27), optimizer="SGD")
    (finding,) = found(ScalerUpdateMissing(), [fact])
    assert finding.message == (
        "step 1, rank 0: scaler.step (train.py:28) found that SGD had stepped (train.py:27) and scaler.update() was "
        "not called since; expected one update per "
        "step. Call scaler.update() after scaler.step."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (line(27), line(28))


def test_unscaling_after_a_step_is_the_same_fault_and_twice_is_another():
    assert (
        len(found(ScalerUpdateMissing(), [ScalerRefused(ref=at(1), what="unscaled after step", frame=line(28))])) == 1
    )
    assert found(ScalerUpdateMissing(), [ScalerRefused(ref=at(1), what="unscaled twice", frame=line(28))]) == []
