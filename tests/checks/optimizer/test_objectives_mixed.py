"""Critics that learn the objective of what they judge."""

from __future__ import annotations

from debugtracer.checks.optimizer.objectives_mixed import ObjectivesMixed
from debugtracer.trace.facts.critic_gradient import CriticGradient
from tests.checks.optimizer.seen import at, found, line


def mixed(number: int, **fields: object) -> CriticGradient:
    given = {"cleared": line(18), "step": line(26), **fields}
    return CriticGradient(
        ref=at(1 + 2 * number), optimizer=1, kind="Adam", built=line(13), other=0, other_kind="Adam",
        other_built=line(12), number=number, parameters=3, backward=line(22), added=line(25), **given,
    )  # fmt: skip


def test_a_critic_with_the_gradient_of_the_generator():
    (finding,) = found(ObjectivesMixed(), [mixed(n) for n in range(3)])
    assert finding.message == (
        "step 1, rank 0: Adam (train.py:13) updates 3 parameters with the gradient that the backward of line 22 left "
        "in them, whose objective is that of Adam (train.py:12), in 2 updates; expected that of line 25 alone. Call "
        "zero_grad of that optimizer just before line 25."
    )
    assert (finding.kind, finding.place.frame, finding.place.symptom_frame) == ("stale_gradients", line(18), line(26))


def test_without_a_zero_grad_the_backward_is_the_place():
    (finding,) = found(ObjectivesMixed(), [mixed(n, cleared=None) for n in range(2)])
    assert finding.place.frame == line(22)


def test_one_update_is_silent():
    assert found(ObjectivesMixed(), [mixed(0)]) == []
