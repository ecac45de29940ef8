"""Losses that swing to and fro."""

from __future__ import annotations

from debugtracer.checks.optimizer.loss_oscillation import LossOscillation
from debugtracer.trace.facts.wiring import Wiring
from tests.spikes.series import falling, findings, ref


def swinging(slope: float) -> list[float]:
    """A level with that slope per step, and from step 100 on an alternation that grows by 2 % a step."""
    return [1.0 + slope * step + (-1) ** step * 0.01 * 1.02 ** max(step - 100, 0) for step in range(260)]


def test_fires_on_a_growing_swing_at_a_level_that_does_not_fall():
    found = findings(LossOscillation(), swinging(0.001))
    assert [f.severity for f in found] == ["warning"]
    assert found[0].kind == "lr_too_high"
    assert "times as wide as 64 steps before, its sign changes at" in found[0].message
    assert found[0].message.endswith("expected below 65 %. Halve the learning rate.")


def test_a_loss_that_still_falls_is_a_note():
    assert [f.severity for f in findings(LossOscillation(), swinging(-0.002))] == ["note"]


def test_stays_silent_on_two_tasks_by_turns():
    assert not findings(LossOscillation(), [(2.0 if step % 2 else 1.0) * v for step, v in enumerate(falling(600))])


def test_stays_silent_on_a_healthy_loss():
    assert not findings(LossOscillation(), falling(1000))


def test_a_swing_is_left_alone_where_the_target_moves():
    follower = Wiring(ref=ref(0), params=(), optimizers=(), follower=True)
    assert findings(LossOscillation(), swinging(0.001), [follower]) == []
    assert findings(LossOscillation(), swinging(0.001)) != []
