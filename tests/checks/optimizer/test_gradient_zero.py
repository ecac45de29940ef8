"""Gradients that are exactly 0 from the first step on."""

from __future__ import annotations

from debugtracer.checks.optimizer.gradient_zero import GradientZero
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.own_updates import OwnUpdates
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import GRAD_L2
from tests.checks.optimizer.seen import at, line, order

OWN = OwnUpdates(ref=at(0), backwards=1, updates=0)


def judged(norms: list[float], *facts: Fact, ended: bool = False) -> list[Finding]:
    check = GradientZero()
    judge, got = Judge({check.slug: check}), []
    for step, norm in enumerate(norms):
        got += judge.judge(at(step), {GRAD_L2: norm}, facts if step == 0 else ())
    return [*got, *judge.end(at(len(norms) - 1))] if ended else got


def loss(classes: int) -> LossCall:
    return LossCall(ref=at(0), loss="cross_entropy", classes=classes, frame=line(24))


def test_one_class_is_a_proof():
    (finding,) = judged([0.0] * 60, order(0, empty=True, grads=4), loss(1))
    assert finding.message == (
        "step 0, rank 0: every gradient was exactly 0 in 50 of 50 steps: cross_entropy (train.py:24) is over 1 class, "
        "so it is 0 whatever the score; expected a loss that depends on the weights. Use "
        "binary_cross_entropy_with_logits for one score, or two outputs."
    )
    assert (finding.severity, finding.exact, finding.kind) == ("error", True, "loss_misuse")


def test_any_other_loss_is_a_warning_also_where_the_loop_writes_its_weights():
    (finding,) = judged([0.0] * 8, OWN, loss(3), ended=True)
    assert finding.message == (
        "step 0, rank 0: every gradient was exactly 0 in 8 of 8 steps, the loss is cross_entropy (train.py:24); "
        "expected some that are not. Look for a mask of zeros, a clamp or a ReLU between the weights and the loss."
    )
    assert (finding.severity, finding.kind) == ("warning", "parameters_not_updated")


def test_one_gradient_ends_the_question():
    assert judged([0.0] * 49 + [1e-30] + [0.0] * 80, OWN, ended=True) == []


def test_no_gradient_at_all_is_another_question():
    assert judged([0.0] * 60, order(0, empty=True, grads=0), ended=True) == []
    assert judged([0.0] * 60, ended=True) == []


def test_a_few_steps_are_too_few():
    assert judged([0.0] * 7, OWN, ended=True) == []
