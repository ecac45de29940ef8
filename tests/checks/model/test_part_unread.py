"""Parts of the training that nobody reads."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.model.part_unread import PartUnread
from debugtracer.trace.facts.unread_part import UnreadPart
from tests.checks.optimizer.seen import at, found, line


def judged(part: str, kind: str, **more: Any):
    return found(PartUnread(), [UnreadPart(ref=at(152), name="made", frame=line(70), part=part, kind=kind, **more)])


def test_a_scheduler_that_was_never_stepped():
    (finding,) = judged("scheduler", "StepLR", count=152)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "result_discarded", line(70))
    assert finding.message == (
        "step 152, rank 0: StepLR made (train.py:70) is built and read by no line, and never stepped in 152 updates; "
        "expected a step of it for each update or epoch. Step it, or delete the line."
    )


def test_a_run_too_short_for_a_step_of_the_scheduler_is_silent():
    assert judged("scheduler", "StepLR", count=19) == []
    assert len(judged("scheduler", "StepLR", count=20)) == 1


def test_class_weights_and_a_sampler_are_told_where_they_were_to_be_given():
    (weights,) = judged("class weights", "Tensor", count=3, without=line(74))
    assert (weights.severity, weights.place.frame, weights.place.symptom_frame) == ("warning", line(74), line(70))
    assert ", 3 numbers, and the loss over 3 classes (train.py:74) has no weights;" in weights.message
    (sampler,) = judged("sampler", "WeightedRandomSampler", without=line(75))
    assert (sampler.severity, sampler.place.frame) == ("warning", line(75))
    assert ", and the loader (train.py:75) draws by one of its own;" in sampler.message


def test_a_generator_and_a_sampler_without_a_loader_are_notes():
    assert [f.severity for f in (*judged("generator", "Generator"), *judged("sampler", "Sampler"))] == ["note", "note"]
