"""Denoisers that are asked for their own input."""

from __future__ import annotations

from debugtracer.checks.model.noise_kept import NoiseKept
from debugtracer.trace.facts.noisy_target import NoisyTarget
from tests.checks.facts_at import judged, line, ref


def noisy(step: int, noise: float = 0.62) -> NoisyTarget:
    return NoisyTarget(ref=ref(step), loss="mse_loss", number=step, noise=noise, frame=line(192), drawn=line(185))


def test_a_target_that_is_the_noisy_input_is_told_at_the_loss():
    (finding,) = judged(NoiseKept(), [noisy(step) for step in range(5)])
    assert finding.message == (
        "step 0, rank 0: the target of mse_loss (train.py:192) is the model's own input, data with the noise of line "
        "185 added (correlation 0.62), in 3 steps; expected the noise or the clean data. Compare with one of them."
    )
    assert (finding.severity, finding.kind) == ("warning", "label_leak")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(192), line(185))


def test_a_dequantisation_and_two_steps_are_silent():
    assert judged(NoiseKept(), [noisy(step, 0.01) for step in range(5)]) == []
    assert judged(NoiseKept(), [noisy(0), noisy(1)]) == []


def test_at_the_threshold():
    assert len(judged(NoiseKept(), [noisy(step, -0.2) for step in range(3)])) == 1
    assert judged(NoiseKept(), [noisy(step, 0.199) for step in range(3)]) == []
