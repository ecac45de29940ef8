"""A loop without an optimizer that never writes its weights."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.update_missing import UpdateMissing
from debugtracer.trace.facts.own_updates import OwnUpdates
from tests.checks.optimizer.seen import at, found, line


def seen(backwards: int, **more: object) -> OwnUpdates:
    return OwnUpdates(
        **{"ref": at(backwards), "backwards": backwards, "updates": 0, "backward_frame": line(31), **more}
    )


def test_weights_that_stand_are_told_at_the_end_and_in_a_long_run_at_once():
    (finding,) = found(UpdateMissing(), [seen(64), seen(192)], ended=True)
    assert finding.message == (
        "step 192, rank 0: no update in 192 backward calls (train.py:31): no optimizer was built and the weights are "
        "what they were; expected one update for each batch or few. Step an optimizer, or write in place: "
        "p.sub_(lr * p.grad)."
    )
    assert (finding.severity, finding.kind) == ("warning", "parameters_not_updated")
    assert found(UpdateMissing(), [seen(64), seen(448)]) == []
    assert len(found(UpdateMissing(), [seen(512), seen(576)], ended=True)) == 1


@pytest.mark.parametrize("more", [{"updates": 1}, {"optimizers": 1}, {"trains": False}, {"inputs": True}])
def test_updates_an_optimizer_an_evaluation_and_an_attack_are_no_fault(more):
    assert found(UpdateMissing(), [seen(600, **more)], ended=True) == []


def test_a_run_of_a_few_calls_is_no_training():
    assert found(UpdateMissing(), [seen(19)], ended=True) == []
    assert len(found(UpdateMissing(), [seen(20)], ended=True)) == 1
