"""Dropouts that stay on."""

from __future__ import annotations

from debugtracer.checks.model.dropout_left_on import DropoutLeftOn
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.optimizer.seen import at, found, line


def judged(trial):
    return found(
        DropoutLeftOn(), [FunctionTest(ref=at(0), trial=trial, root="Net", changed=True, frame=line(22), module="")]
    )


def test_the_line_is_named():
    (finding,) = judged("dropout_left_on")
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "train_eval_mode", line(22))
    assert finding.message == (
        "step 0, rank 0: dropout (train.py:22) drops values in evaluation mode too: two runs of Net on one input "
        "differ, and do not without it; expected the same output twice. Pass training=self.training, or make an "
        "nn.Dropout in __init__."
    )


def test_other_trials_are_others():
    assert judged("any_input") == []
