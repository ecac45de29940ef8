"""Gradient penalties along the wrong axes."""

from __future__ import annotations

from debugtracer.checks.model.penalty_axis import PenaltyAxis
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.penalty_axes import PenaltyAxes
from debugtracer.trace.step import StepRef

NORM, GRADIENT = Frame("/p/penalty.py", 7), Frame("/p/penalty.py", 5)


def look(step, **more):
    known = {"function": "norm", "shape": (64, 4), "folded": (0,), "frame": NORM, "grad_frame": GRADIENT, **more}
    return PenaltyAxes(ref=StepRef(iteration=step, step=step), **known)


def judged(*looks):
    check = PenaltyAxis()
    judge = Judge({check.slug: check})
    return [finding for fact in looks for finding in judge.judge(fact.ref, {}, [fact])]


def test_it_is_told_at_the_second_look_once():
    (finding,) = judged(look(0), look(1), look(2))
    assert finding.message == (
        "step 1, rank 0: norm (penalty.py:7) of a gradient of (64, 4), samples first, is taken over dimension 0, and a "
        "number is subtracted from it, in 2 looks; expected one norm for each of 64 samples. Use "
        "`g.flatten(1).norm(2, dim=1)`."
    )
    assert (finding.severity, finding.kind) == ("warning", "axes_mixed")
    assert (finding.place.frame, finding.place.symptom_frame) == (NORM, GRADIENT)


def test_one_look_is_not_enough():
    assert not judged(look(0))
