"""Gradients unscaled twice."""

from __future__ import annotations

from debugtracer.checks.optimizer.double_unscale import DoubleUnscale
from debugtracer.trace.facts.amp import ScalerRefused
from tests.checks.optimizer.seen import at, found, line


def test_it_names_the_second_call_and_the_first():
    fact = ScalerRefused(ref=at(0), what="unscaled twice", frame=line(34), before=line(30), optimizer="SGD")
    (finding,) = found(DoubleUnscale(), [fact])
    assert finding.message == (
        "step 0, rank 0: unscale_ (train.py:34) is called on gradients of SGD that are unscaled already (train.py:30) "
        "and not updated since; expected once per "
        "update. Remove the second call, or unscale only after the last microbatch."
    )
    assert (finding.kind, finding.exact, finding.symptom, finding.place.frame) == (
        "amp_double_unscale",
        True,
        "crash",
        line(34),
    )


def test_other_refusals_are_not_its_own():
    assert found(DoubleUnscale(), [ScalerRefused(ref=at(0), what="stepped twice", frame=line(34))], ended=True) == []
