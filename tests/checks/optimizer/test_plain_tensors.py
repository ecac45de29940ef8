"""Tensors of an optimizer that ask for no gradient."""

from __future__ import annotations

from debugtracer.checks.optimizer.plain_tensors import PlainTensors
from debugtracer.trace.facts.plain_tensors import PlainTensors as Held
from tests.checks.optimizer.seen import at, found, line


def look(looks, **more):
    given = {"count": 1, "held": 3, "shape": (8, 32), "built": line(14), "made": line(12)} | more
    return Held(ref=at(looks - 1), optimizer="Adam", number=0, looks=looks, **given)


def test_one_that_is_passed_by_in_three_updates():
    (finding,) = found(PlainTensors(), [look(3), look(4)])
    assert (finding.severity, finding.exact, finding.place.frame) == ("warning", False, line(12))
    assert finding.message == (
        "step 2, rank 0: Adam (train.py:14) holds 1 tensor of shape (8, 32) that asks for no gradient (train.py:12): "
        "step() passed it by to the end of the run; expected requires_grad=True for what an optimizer is to move. "
        "Make it an nn.Parameter."
    )


def test_two_updates_are_too_few():
    assert found(PlainTensors(), [look(2)]) == []


def test_a_loss_that_hangs_on_nothing_else_is_exact_at_once():
    (finding,) = found(PlainTensors(), [look(0, count=2, held=2, made=None, loose=line(30)), look(3, count=2)])
    assert (finding.severity, finding.exact, finding.place.frame) == ("error", True, line(14))
    assert (finding.place.symptom_frame, finding.confidence) == (line(30), 0.95)
    assert finding.message == (
        "step -1, rank 0: Adam (train.py:14) holds 2 tensors of shape (8, 32) that ask for no gradient, and the loss "
        "hangs on nothing else (train.py:30); expected requires_grad=True for what an optimizer is to move. Make each "
        "an nn.Parameter."
    )
