"""Evaluations that give a model its targets."""

from __future__ import annotations

from debugtracer.checks.model.targets_in_evaluation import TargetsInEvaluation
from debugtracer.trace.facts.evaluated_targets import EvaluatedTargets
from tests.checks.optimizer.seen import at, found, line


def evaluated(used, *, numbers=True):
    return EvaluatedTargets(
        ref=at(40), root="Outlook", argument="ahead", runs=12, used=used, numbers=numbers, frame=line(53),
        loss_frame=line(48),
    )  # fmt: skip


def test_targets_by_chance_are_a_warning():
    for numbers in (True, False):
        (one,) = found(TargetsInEvaluation(), [evaluated(7, numbers=numbers)])
        assert (one.severity, one.kind, one.place.frame) == ("warning", "label_leak", line(53))
        assert one.message == (
            "step 40, rank 0: the evaluation (train.py:53) gives Outlook its targets (ahead), and an output depends on "
            "them in 7 of 12 runs, by chance; expected the model's own predictions. Turn teacher forcing off there."
        )


def test_numbers_that_always_come_in_are_a_note():
    (one,) = found(TargetsInEvaluation(), [evaluated(12)])
    assert one.severity == "note" and "Unless the step to the next value alone is measured" in one.message


def test_the_likelihood_of_a_text_is_silent():
    assert found(TargetsInEvaluation(), [evaluated(12, numbers=False)]) == []
