"""Groups of rows that mix classes."""

from __future__ import annotations

from debugtracer.checks.model.groups_mixed import GroupsMixed
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.mixed_groups import MixedGroups
from debugtracer.trace.step import StepRef

VIEW, SAMPLER = Frame("/p/train.py", 17), Frame("/p/sampler.py", 12)


def look(step, **more):
    known = {
        "function": "mean", "sizes": (2, 5), "dim": 0, "labels": (17, 3), "path": "batch[1]", "turned": False,
        "asked": False, "frame": VIEW, "reader_frame": VIEW, "sampler": "Episodes", "drawn": SAMPLER, **more,
    }  # fmt: skip
    return MixedGroups(ref=StepRef(iteration=step, step=step), **known)


def judged(*looks):
    check = GroupsMixed()
    judge = Judge({check.slug: check})
    return [finding for fact in looks for finding in judge.judge(fact.ref, {}, [fact])]


def test_the_sampler_is_named_where_the_targets_expect_another_order():
    (finding,) = judged(look(0), look(1), look(2))
    assert finding.message == (
        "step 1, rank 0: mean over dimension 0 of rows taken apart as (2, 5) (train.py:17) puts together rows of the "
        "classes 17, 3 (batch[1]), in a batch of 5 classes with as many rows of each, in 2 looks; expected groups of "
        "one class. Episodes.__iter__ (sampler.py:12) hands the rows out in another order than the targets of the loss "
        "and this line expect; class by class becomes shot by shot with `torch.stack(rows).t().reshape(-1)`."
    )
    assert (finding.severity, finding.kind) == ("warning", "axes_mixed")
    assert (finding.place.frame, finding.place.symptom_frame) == (SAMPLER, VIEW)


def test_the_view_is_named_where_the_targets_are_those_of_the_rows():
    (finding,) = judged(look(0, turned=True, asked=True, path=""), look(1, turned=True, asked=True, path=""))
    assert "classes 17, 3, while those along dimension 1 are of one class" in finding.message
    assert finding.message.endswith("Fold dimension 1.")
    assert finding.place.frame == VIEW


def test_rows_that_lie_the_other_way_are_taken_apart_so():
    (finding,) = judged(look(0, asked=True), look(1, asked=True))
    assert finding.message.endswith("Take them apart as (5, 2) and fold dimension 1.")


def test_without_a_sampler_of_the_program_the_view_is_the_place():
    (finding,) = judged(*(look(at, drawn=None, sampler="", turned=True) for at in (0, 1)))
    assert finding.place.frame == VIEW


def test_one_look_is_not_enough():
    assert not judged(look(0))
