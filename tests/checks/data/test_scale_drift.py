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


@pytest.mark.parametrize(("value", "severities"), [(0.6, []), (73.1, ["warning"])], ids=["a task", "a unit"])
def test_a_smaller_move_that_begins_with_a_pass_is_another_task_or_stage(value, severities):
    told = judged(ScaleDrift(), [far(n, value=value, batch=n - 80) for n in range(80, 85)], start=80)
    assert [finding.severity for finding in told] == severities


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


def severity(**fact):
    (finding,) = judged(ScaleDrift(), [far(n, **fact) for n in range(80, 83)], start=80)
    return finding.severity


def test_at_the_limit_of_ten_times_the_spread_up_and_down():
    assert (severity(value=10.0, usual=1.0), severity(value=9.99, usual=1.0)) == ("warning", "note")
    assert (severity(value=0.0999, usual=1.0), severity(value=0.101, usual=1.0)) == ("warning", "note")
    assert (severity(value=-10.0, usual=1.0), severity(value=0.0, usual=0.0)) == ("warning", "note")


def test_at_the_limit_of_ten_deviations_of_the_mean_up_and_down():
    for sign in (1, -1):  # a spread of 0.006 is a fiftieth of a standard deviation: 3 are ten of them
        assert severity(value=sign * 3.001, usual=0.0, detail="mean") == "warning"
        assert severity(value=sign * 2.999, usual=0.0, detail="mean") == "note"


def test_after_many_strays_seven_in_a_row_are_enough():
    strays = [step for n in range(80, 96, 2) for step in (far(n), [])]
    assert not judged(ScaleDrift(), [*strays, *(far(n) for n in range(96, 102))], start=80)
    (finding,) = judged(ScaleDrift(), [*strays, *(far(n) for n in range(97, 105))], start=80)
    assert "in 7 batches in a row" in finding.message


def test_inputs_and_loaders_are_followed_each_by_itself():
    two = [[*far(80, path="batch[0]"), *far(80, path="batch[1]")], far(81, path="batch[0]"), far(82, path="batch[1]")]
    assert not judged(ScaleDrift(), two, start=80)
    assert not judged(ScaleDrift(), [[an_oddity("range", n, value=9.0, usual=0.1, detail="std")] for n in range(5)])
