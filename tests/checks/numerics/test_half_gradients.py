"""Scalers on float16 parameters."""

from __future__ import annotations

from debugtracer.checks.numerics.half_gradients import HalfGradients
from debugtracer.trace.facts.amp import ScalerRefused
from tests.checks.optimizer.seen import at, found, line


def test_it_names_the_parameter():
    fact = ScalerRefused(ref=at(0), what="half gradients", frame=line(30), optimizer="SGD", param="0.weight")
    (finding,) = found(HalfGradients(), [fact])
    assert finding.message == (
        "step 0, rank 0: the gradient of 0.weight is float16 and the scaler is asked to unscale it for SGD; expected "
        "float32 parameters under autocast. Remove "
        ".half() from the model."
    )
    assert (finding.kind, finding.exact, finding.place.param, finding.place.module) == (
        "amp_half_parameters",
        True,
        "0.weight",
        "0",
    )


def test_other_refusals_are_not_its_own():
    assert found(HalfGradients(), [ScalerRefused(ref=at(0), what="unscaled twice", frame=line(30))]) == []
