"""A resume without its state."""

from __future__ import annotations

from debugtracer.checks.rollback.state_lost import StateLost
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import Resumed
from debugtracer.trace.step import StepRef
from tests.checks.crashes import REF, told

SAVE, LOAD = Frame("/p/train.py", 56), Frame("/p/train.py", 61)


def judged(**more):
    known = {
        "saved": ("counter", "weights"),
        "saved_here": True,
        "saved_step": 240,
        "counter": True,
        "optimizer": "AdamW",
        "fresh": True,
        "same_setup": True,
    }
    return told(StateLost(), Resumed(ref=REF, save_frame=SAVE, load_frame=LOAD, **{**known, **more}))


def test_moments_and_schedule_that_begin_anew():
    (finding,) = judged(schedule_fresh=True, schedule_before=240)
    assert finding.message == (
        "step 5, rank 0: AdamW begins with an empty state and the schedule begins at step 0 after weights of step 240 "
        "were loaded (train.py:61); the checkpoint (train.py:56) holds counter, weights; expected the optimizer and "
        "scheduler of the save. Save and load them too."
    )
    assert (finding.severity, finding.kind, finding.place.frame, finding.place.symptom_frame) == (
        "warning",
        "resume_state",
        SAVE,
        LOAD,
    )


def test_a_state_that_is_in_the_file_is_lost_at_the_load():
    known = {"saved": ("counter", "optimizer", "scheduler", "weights"), "restored": ("optimizer",), "fresh": False}
    (finding,) = judged(**known, schedule_fresh=True)
    assert (finding.severity, finding.place.frame) == ("warning", LOAD)


def test_a_part_that_was_loaded_makes_it_certain_and_else_the_doubt_is_told():
    doubt = "unless a new training begins on old weights"
    known = {"saved": ("counter", "scheduler", "weights"), "saved_here": False, "counter": False}
    (sure,) = judged(**known, restored=("scheduler",), lr=0.01, lr_before=0.1)
    assert (sure.severity, doubt in sure.message) == ("warning", False)
    assert sure.evidence == {"lr": 0.01, "lr_before": 0.1}


def test_a_fine_tuning_is_silent_and_a_counter_of_another_run_is_a_note():
    assert judged(saved=("weights",), saved_here=False, counter=False, same_setup=False) == []
    assert [f.severity for f in judged(saved_here=False, counter=False, same_setup=False)] == ["note"]
    assert [f.severity for f in judged(same_setup=False)] == ["note"]
    assert judged(same_setup=False, partial=True) == []


def test_a_whole_resume_and_an_optimizer_without_moments_are_silent():
    assert judged(fresh=False, restored=("optimizer",)) == []
    assert judged(stateful=False) == []


def test_a_file_of_another_run_whose_optimizer_is_set_up_alike_is_a_resume():
    known = {
        "saved": ("counter", "optimizer", "weights"),
        "saved_here": False,
        "saved_step": None,
        "counter": False,
        "same_setup": False,
    }
    (finding,) = judged(**known, file_fits=True)
    assert finding.severity == "warning"
    assert finding.message.endswith(
        "expected the optimizer of the save. Load it too, unless a new training begins on old weights."
    )
    assert finding.remedy == (
        "call load_state_dict of what the file holds after building the object and before the first step",
    )
    assert [f.severity for f in judged(**known)] == ["note"]


def other_rate(losses, ended=False, **more):
    """What is said of a file with the state of this optimizer at a tenth of the rate, and of losses from then on."""
    known = {"saved": ("counter", "optimizer", "weights"), "optimizer": "Adam", "fresh": True, "lr": 0.05}
    fact = Resumed(ref=StepRef(iteration=5, step=5), load_frame=LOAD, **{**known, "file_rate": 0.005, **more})
    check = StateLost()
    judge = Judge({check.slug: check})
    got = []
    for step, loss in enumerate(losses, 5):
        got += judge.judge(StepRef(iteration=step, step=step), {"loss": loss}, [fact] if step == 5 else [])
    return [*got, *judge.end(StepRef(iteration=30, step=30))] if ended else got


RAISED = [0.2, 0.21, 0.25, *[0.4] * 8]


def test_a_rate_that_was_left_in_the_file_is_loud_where_the_loss_leaves_its_level():
    (finding,) = other_rate(RAISED)
    assert finding.severity == "warning"
    assert finding.message == (
        "step 5, rank 0: Adam begins with an empty state after weights were loaded (train.py:61); the checkpoint holds "
        "counter, optimizer, weights; expected the optimizer of the save. Load it too, unless a new training begins on "
        "old weights. Its rate is 0.05, in the file 0.005; the loss rose from 0.2 to 0.4."
    )
    assert (finding.place.frame, finding.evidence) == (LOAD, {"lr": 0.05, "lr_before": 0.005})


def test_it_is_a_note_where_the_loss_stays_or_the_run_ends():
    assert other_rate(RAISED[:-1]) == []
    assert [f.severity for f in other_rate(RAISED[:-1], ended=True)] == ["note"]
    assert [f.severity for f in other_rate([0.2, 0.19, *RAISED[2:]])] == ["note"]
    assert [f.severity for f in other_rate([0.2, *[0.29] * 10])] == ["note"]


def test_a_lower_rate_or_a_new_head_waits_for_nothing():
    assert [f.severity for f in other_rate(RAISED[:1], lr=0.009)] == ["note"]
    assert other_rate(RAISED, partial=True) == []
