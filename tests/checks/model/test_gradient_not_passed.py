"""Straight-through sums that pass no gradient."""

from __future__ import annotations

from debugtracer.checks.model.gradient_not_passed import GradientNotPassed
from debugtracer.trace.facts.straight_through import StraightThrough
from tests.checks.facts_at import judged, line, ref


def fact(step, how="detached", at=17):
    return StraightThrough(ref=ref(step), how=how, shape=(50, 6), module="Codes", frame=line(at))


def test_a_sum_that_is_detached_whole_is_told_at_the_second_step_and_once():
    (finding,) = judged(GradientNotPassed(), [fact(step) for step in range(4)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "detached_graph", line(17))
    assert finding.message == (
        "step 1, rank 0: a sum that adds a tensor of 50 x 6 and takes it away again (Codes, train.py:17) is detached "
        "as a whole: no gradient of the loss passes to that tensor in 2 steps; expected a straight-through gradient. "
        "Detach the difference alone: x + (q - x).detach()."
    )


def test_gradients_that_cancel_are_told_as_that():
    (finding,) = judged(GradientNotPassed(), [fact(0, "cancels"), fact(1, "cancels")])
    assert "has its graph on both sides, where its gradients cancel: no gradient" in finding.message


def test_one_step_and_two_lines_are_silent():
    assert judged(GradientNotPassed(), [fact(0), fact(1, at=30), fact(0)]) == []


def test_codes_that_go_on_as_they_are_have_words_of_their_own():
    facts = [
        StraightThrough(ref=ref(step), how="missing", shape=(64, 16), module="Codes", choice="argmin", frame=line(44))
        for step in (0, 1)
    ]
    (finding,) = judged(GradientNotPassed(), facts)
    assert finding.message == (
        "step 1, rank 0: codes of 64 x 16 that argmin chose (Codes, train.py:44) go on in place of the tensor they are "
        "compared with: no gradient of the loss passes to that tensor in 2 steps; expected a straight-through "
        "gradient. Hand on x + (q - x).detach() in place of q."
    )
    assert finding.remedy[0].startswith("hand on x + (q - x).detach()")


def test_codes_looked_up_twice_are_told_where_the_wrong_ones_go_on():
    known = {"how": "missing", "shape": (64, 16), "module": "Codes", "choice": "min", "frame": line(35)}
    facts = [StraightThrough(ref=ref(step), handed_on=line(103), twice=True, **known) for step in (0, 1)]
    (finding,) = judged(GradientNotPassed(), facts)
    assert "compared with (train.py:103): no gradient" in finding.message
    assert finding.message.endswith("They are looked up twice: hand on those with the straight-through gradient.")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(103), line(35))
