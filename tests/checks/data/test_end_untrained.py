"""Ends of texts that are never a target."""

from __future__ import annotations

from debugtracer.checks.data.end_untrained import EndUntrained
from debugtracer.trace.facts.untrained_end import UntrainedEnd
from tests.checks.optimizer.seen import at, found, line


def judged(widths, attended, **more):
    return found(
        EndUntrained(),
        [
            UntrainedEnd(
                ref=at(step), token=0, rows=32, attended=attended, width=width, loss="cross_entropy", frame=line(51),
                made=(line(39),), **more,
            )
            for step, width in enumerate(widths)
        ],
    )  # fmt: skip


def test_two_steps_with_a_mask_are_needed_and_it_is_said_once():
    assert judged([9], True) == []
    (finding,) = judged([9, 9, 9], True)
    assert (finding.severity, finding.kind) == ("warning", "label_mask_wrong")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(39), line(51))
    assert finding.message == (
        "step 0, rank 0: id 0 ends all 32 texts and fills their rows, and cross_entropy (train.py:51) ignores it "
        "everywhere; the targets are made at train.py:39; expected the first one of each text as a target. Set labels "
        "to -100 where the attention mask is 0."
    )


def test_without_a_mask_batches_of_several_widths_are_needed():
    assert judged([9, 11, 10], False) == []
    assert judged([9] * 8, False) == []
    (finding,) = judged([9, 11, 10, 12, 9], False)
    assert finding.message.endswith("Give the padding an id of its own, or ignore it by its place.")
    assert finding.remedy[0].startswith("give the padding")


def test_samples_of_the_dataset_tell_as_a_mask_does_and_the_line_that_leaves_the_end_out_is_named():
    assert judged([9], False, sampled=True) == []
    (finding,) = judged([9, 9, 9], False, sampled=True, left_out=line(47))
    assert (finding.place.frame, finding.place.symptom_frame) == (line(47), line(51))
