"""Two outputs that are drawn together until all samples come out the same."""

from __future__ import annotations

from debugtracer.checks.model.views_collapse import ViewsCollapse
from debugtracer.trace.facts.compared_views import ComparedViews
from debugtracer.trace.facts.loss_call import LossCall
from tests.checks.optimizer.seen import at, found, line


def seen(step: int, alike: float, number: int = 41, most: float | None = None, name="cosine_similarity"):
    other = alike if most is None else most
    return ComparedViews(ref=at(step), function=name, frame=line(number), rows=128, alike=alike, most_alike=other)


def test_it_is_said_once_with_both_numbers():
    (finding,) = found(ViewsCollapse(), [seen(0, 0.11), seen(1, 0.3), seen(100, 0.9996), seen(200, 1.0)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_misuse", line(41))
    assert finding.message == (
        "step 100, rank 0: cosine_similarity (train.py:41) draws two outputs together that both have a graph, and the "
        "outputs of 128 different samples point one way on both sides: mean cosine 1.000, 0.11 in step 0; expected "
        "samples that stay apart. Detach the side that is the target."
    )


def test_samples_that_stay_apart_are_silent():
    assert found(ViewsCollapse(), [seen(0, 0.11), seen(1, 0.3), seen(100, 0.9), seen(200, 0.97)]) == []


def test_outputs_that_were_alike_from_the_start_are_silent():
    assert found(ViewsCollapse(), [seen(0, 0.93), seen(100, 0.999)]) == []


def test_what_one_side_always_was_may_be_what_the_other_learns():
    assert found(ViewsCollapse(), [seen(0, 0.2, most=0.97), seen(100, 0.999)]) == []
    assert len(found(ViewsCollapse(), [seen(0, 0.2, most=0.92), seen(100, 0.999)])) == 1


def test_a_difference_says_that_the_outputs_are_one():
    (finding,) = found(ViewsCollapse(), [seen(0, 0.1, name="mse_loss"), seen(100, 0.999, name="mse_loss")])
    assert "the outputs of 128 different samples are one on both sides: mean product 0.999" in finding.message


def test_a_loss_of_another_line_keeps_samples_apart():
    other = LossCall(ref=at(0), loss="cross_entropy", frame=line(44))
    assert found(ViewsCollapse(), [seen(0, 0.1), other, seen(100, 0.999)]) == []


def test_the_comparison_itself_is_no_other_loss():
    same = LossCall(ref=at(0), loss="mse_loss", frame=line(41))
    assert len(found(ViewsCollapse(), [seen(0, 0.1), same, seen(100, 0.999)])) == 1
