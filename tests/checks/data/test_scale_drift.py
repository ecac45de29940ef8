"""Inputs on another scale from one batch on."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.scale_drift import ScaleDrift
from debugtracer.trace.birth import Frame
from tests.checks.data.batches import LOADER, an_oddity, judged


def far(step, value=73.1, usual=0.288, detail="std", **more):
    return [an_oddity("content", step, value=value, usual=usual, spread=0.006, detail=detail, **more)]


def test_another_unit_for_three_batches_is_loud_and_begins_at_the_first():
    (finding,) = judged(ScaleDrift(), [far(n) for n in range(80, 85)], start=80)
    assert finding.message == (
        "step 80, rank 0: the std of batch[0] is 73.1 in 3 batches in a row, up to batch 82 of Corpus (train.py:50); "
        "usual is 0.288; expected one scale. "
        "Bring all files to one scale in the dataset."
    )
    assert (finding.severity, finding.kind, finding.step, finding.place.frame) == (
        "warning",
        "data_scale_drift",
        80,
        LOADER.frame,
    )


@pytest.mark.parametrize(
    "fact", [{"value": 0.4}, {"value": 0.6, "usual": 0.5, "detail": "mean"}], ids=["a little wider", "a little higher"]
)
def test_sorted_data_and_a_curriculum_are_a_note(fact):
    (finding,) = judged(ScaleDrift(), [far(n, **fact) for n in range(80, 85)], start=80)
    assert finding.severity == "note"


def test_two_batches_in_a_row_are_not_enough():
    assert not judged(ScaleDrift(), [far(80), far(81), [], far(83), far(84)], start=80)


def test_an_input_that_strays_now_and_then_must_stay_longer():
    strays = [far(80), [], far(82), far(83), []]
    assert not judged(ScaleDrift(), [*strays, *(far(n) for n in range(85, 89))], start=80)
    (finding,) = judged(ScaleDrift(), [*strays, *(far(n) for n in range(85, 95))], start=80)
    assert "in 5 batches in a row, up to batch 89" in finding.message
    assert finding.step == 85


def test_validation_and_token_histograms_are_left_alone():
    assert not judged(ScaleDrift(), [far(n, training=False) for n in range(80, 85)])
    assert not judged(ScaleDrift(), [far(n, detail="token histogram") for n in range(80, 85)])


def test_the_line_that_makes_the_input_is_edited_not_the_loader():
    made = (Frame("/home/someone/data.py", 20, "__getitem__", "return x / scale"),)
    (finding,) = judged(ScaleDrift(), [far(n, made=made) for n in range(80, 85)], start=80)
    assert (finding.place.frame, finding.place.symptom_frame) == (made[0], LOADER.frame)
