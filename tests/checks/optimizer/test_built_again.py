"""Optimizers and schedulers that begin anew again and again."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.optimizer.built_again import BuiltAgain as BuiltAgainCheck
from debugtracer.trace.facts.built_again import BuiltAgain
from tests.checks.optimizer.seen import at, found, line


def again(**more: Any) -> BuiltAgain:
    given = {"what": "optimizer", "kind": "Adam", "frame": line(12), "built": 8, "steps": 1, "calm": 6}
    return BuiltAgain(ref=at(7), **{**given, **more})


def test_an_optimizer_of_each_batch():
    (finding,) = found(BuiltAgainCheck(), [again()])
    assert finding.message == (
        "step 7, rank 0: Adam (train.py:12) was built 8 times over the same parameters, the last time after 1 update: "
        "its moments begin with nothing each time; expected one for the whole training. Build it once, before the loop."
    )
    assert (finding.severity, finding.kind, finding.confidence) == ("warning", "resume_state", 0.9)


def test_one_of_each_pass_is_less_certain_and_one_of_each_task_a_note():
    (each_pass,) = found(BuiltAgainCheck(), [again(built=4, steps=50, in_pass=True)])
    (each_task,) = found(BuiltAgainCheck(), [again(built=4, steps=50)])
    assert (each_pass.severity, each_pass.confidence) == ("warning", 0.6)
    assert (each_task.severity, each_task.confidence) == ("note", 0.4)
    assert "after 50 updates" in each_task.message


def test_a_scheduler():
    given = {"what": "scheduler", "kind": "StepLR", "built": 4, "steps": 50, "calm": 0, "calls": 1, "rate": 0.1}
    (finding,) = found(BuiltAgainCheck(), [again(**given, horizon=3, horizon_word="step_size")])
    assert finding.message == (
        "step 7, rank 0: StepLR (train.py:12) was built 4 times over the same optimizer, each with a rate of 0.1 after "
        "it, and lived for 1 call of step of 3 (step_size): it begins anew each time; expected one for the whole "
        "training. Build it once, before the loop."
    )
    assert (finding.severity, finding.kind) == ("warning", "scheduler_misuse")
    (without,) = found(BuiltAgainCheck(), [again(**{**given, "kind": "LambdaLR", "calls": 2})])
    assert "lived for 2 calls of step: it begins" in without.message
