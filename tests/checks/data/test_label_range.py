"""Do the targets lie in the range of the loss?"""

from __future__ import annotations

from debugtracer.checks.data.label_range import LabelRange
from debugtracer.trace.facts.loss_call import LossCall
from tests.checks.data.batches import an_oddity
from tests.checks.facts_at import judged, line, ref


def call(**fields: object) -> LossCall:
    common = {
        "loss": "binary_cross_entropy_with_logits",
        "frame": line(20),
        "counted": 32,
        "target_low": -1.0,
        "target_high": 1.0,
    }
    return LossCall(ref=ref(), **{**common, **fields})  # type: ignore[arg-type]


def test_signed_labels_are_told_with_their_rows():
    (finding,) = judged(LabelRange(), [call(outside=17, outside_rows=(0, 3), outside_samples=(40, 43))])
    assert finding.message == (
        "step 0, rank 0: binary_cross_entropy_with_logits was given 17 targets outside [0, 1] (samples 40, 43); "
        "targets lie in -1..1; expected [0, 1]. "
        "Map the targets, or set ignore_index."
    )
    assert (finding.kind, finding.layer, finding.place.sample_index) == ("label_out_of_range", "data", (40, 43))
    assert finding.place.batch_rows == (0, 3)
    (without,) = judged(LabelRange(), [call(outside=17, outside_rows=())])
    assert without.place.batch_rows is None


def test_class_numbers_are_told_with_their_count():
    (finding,) = judged(
        LabelRange(), [call(loss="cross_entropy", classes=5, outside=1, target_low=0.0, target_high=5.0)]
    )
    assert "cross_entropy was given 1 targets outside 0..4; targets lie in 0..5; expected 0..4." in finding.message


def test_labels_inside_are_silent():
    assert not judged(LabelRange(), [call(outside=0)])


def test_a_label_that_was_never_seen_is_a_note_and_other_oddities_are_not_its_business():
    (finding,) = judged(LabelRange(), [an_oddity("label", 31, value=9.0, usual=7.0, samples=(496,))])
    assert finding.severity == "note"
    assert "holds the label 9" in finding.message
    assert "reached 7; expected a known class. Check that the head has an output for it." in finding.message
    assert not judged(LabelRange(), [an_oddity("short", 31, value=9.0, usual=7.0)])


def test_targets_of_one_class_and_without_known_limits():
    (finding,) = judged(LabelRange(), [call(classes=1, outside=2, target_low=None, target_high=None)])
    assert "2 targets outside 0..0; targets lie in 0..0; expected 0..0." in finding.message
