"""Losses after a restore beside those that were recorded."""

from __future__ import annotations

from debugtracer.checks.rollback.restore_mismatch import RestoreMismatch
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import PlainValue, Resumed
from debugtracer.trace.facts.former_run import FormerRun
from tests.checks.optimizer.seen import at

SAVE, LOAD = Frame("/p/train.py", 41), Frame("/p/train.py", 52)
USUAL = [0.50 + 0.01 * (step * 7 % 10) for step in range(60)]  # 0.50 .. 0.59, median 0.55


def a_resume(start, **more):
    known = {
        "saved": ("counter", "optimizer", "weights"),
        "restored": ("optimizer",),
        "saved_here": True,
        "saved_step": 40,
        "counter": True,
    }
    return Resumed(ref=at(start), save_frame=SAVE, load_frame=LOAD, **{**known, **more})


def judged(losses, facts):
    check = RestoreMismatch()
    judge = Judge({check.slug: check})
    return [found for step, loss in losses for found in judge.judge(at(step), {"loss": loss}, facts.get(step, ()))]


def here(after, **more):
    return judged(enumerate([*USUAL, *after]), {60: [a_resume(60, **more)]})


def test_losses_far_above_the_recorded_ones():
    (finding,) = here([4.0, 3.9, 3.5, 3.6, 3.1, 3.0])
    assert finding.message == (
        "step 60, rank 0: the first 5 losses after weights of step 40 were loaded (train.py:52) are 4, 3.9, 3.5, 3.6, "
        "3.1; around that step 0.55 and at most 0.59 was recorded; expected them to go on there. The file "
        "(train.py:41) holds counter, optimizer, weights and no generator: look at what else the "
        "model and its data need (plain attributes, vocabulary, scale of the inputs)."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "resume_state", LOAD)


def test_the_same_losses_and_the_band_are_silent():
    assert here(USUAL[40:50]) == []
    assert here([0.59, 0.58, 0.55, 0.6, 0.52]) == []
    assert here([0.1, 0.1, 0.1, 0.1, 0.1]) == []


def test_one_loss_inside_the_band_is_silent():
    assert here([4.0, 3.9, 0.55, 3.6, 3.1]) == []


def test_at_the_threshold_of_half_the_recorded_median():
    assert here([0.82] * 5) == []
    assert len(here([0.83] * 5)) == 1


def test_a_fine_tuning_and_other_data_are_silent():
    high = [4.0] * 6
    assert here(high, restored=(), counter=False) == []
    assert here(high, restored=(), same_setup=False) == []
    assert here(high, same_data=False) == []
    assert here(high, edited=True) == []
    assert len(here(high, restored=(), same_setup=True, same_data=True)) == 1


def test_objects_that_go_on_may_begin_a_new_task():
    (finding,) = here([4.0] * 6, in_place=True)
    assert finding.severity == "note"
    assert finding.message.endswith("scale of the inputs); nothing if another task begins here.")
    assert here(USUAL[40:50], in_place=True) == []


def test_too_few_recorded_losses_are_silent():
    assert (
        judged(
            [(step, 0.5) for step in range(5)] + [(step, 4.0) for step in range(5, 12)],
            {5: [a_resume(5, saved_step=5)]},
        )
        == []
    )


def former(**more):
    losses = tuple((step, USUAL[step]) for step in range(24, 56))
    known = {"run": "monday", "step": 40, "start": 0, "losses": losses, "same_program": True}
    return FormerRun(ref=at(0), **{**known, **more})


def test_a_former_run_of_the_same_program():
    fresh = a_resume(0, saved_here=False, saved_step=None, counter=False)
    after = list(enumerate([4.0] * 20))
    (finding,) = judged(after, {0: [fresh], 9: [former()]})
    assert "after weights of step 40 were loaded" in finding.message
    assert (finding.step, finding.evidence["recorded"]) == (0, 0.55)
    assert judged(after, {0: [fresh], 9: [former(same_program=False)]}) == []
    assert judged(after, {0: [fresh]}) == []
    assert judged(list(enumerate(USUAL[40:])), {0: [fresh], 9: [former()]}) == []


def plain(name, mean, spread=0.0, size=1, line=37):
    return PlainValue(name=name, size=size, mean=mean, spread=spread, frame=Frame("/p/train.py", line))


def test_the_attributes_that_begin_anew_are_named_and_are_the_place():
    before = (plain("Scaler.mean", 389.0), plain("Scaler.std", 60.0, 80.0, 3, 38), plain("Scaler.eps", 1e-6))
    now = (plain("Scaler.mean", 0.0), plain("Scaler.std", 1.0, 0.0, 3, 38), plain("Scaler.eps", 1e-6))
    (finding,) = here([4.0] * 6, plain=now, plain_before=before)
    assert finding.message.endswith(
        "no generator: Scaler.mean (train.py:37) was 389 at the save and is 0 now, Scaler.std (train.py:38) was 3 "
        "values of mean 60 and spread 80 at the save and is 3 values of mean 1 and spread 0 now, which no state_dict "
        "holds."
    )
    assert (finding.place.frame.line, finding.place.symptom_frame, finding.confidence) == (37, LOAD, 0.9)
    assert finding.remedy[0].startswith("register_buffer the attributes")
    assert here(USUAL[40:50], plain=now, plain_before=before) == []  # no loss says that it matters


def test_more_than_three_attributes_are_counted():
    before, now = [tuple(plain(f"Scaler.a{n}", value) for n in range(5)) for value in (1.0, 2.0)]
    (finding,) = here([4.0] * 6, plain=now, plain_before=before)
    assert "Scaler.a2 (train.py:37) was 1 at the save and is 2 now, and 2 more, which" in finding.message


def test_the_attributes_of_a_former_run_are_compared_too():
    fresh = a_resume(0, saved_here=False, saved_step=None, counter=False, plain=(plain("Scaler.mean", 0.0),))
    after = list(enumerate([4.0] * 20))
    (finding,) = judged(after, {0: [fresh], 9: [former(plain=(plain("Scaler.mean", 389.0),))]})
    assert "Scaler.mean (train.py:37) was 389 at the save and is 0 now" in finding.message
