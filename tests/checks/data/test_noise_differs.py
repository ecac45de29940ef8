"""Noise that is predicted, and noise that is generated from."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.data.noise_differs import NoiseDiffers
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.predicted_noise import PredictedNoise
from debugtracer.trace.finding import Finding
from tests.checks.windows import ref, told

DRAWN, CALLED = Frame("/home/someone/train.py", 30), Frame("/home/someone/train.py", 43)


def a_noise(**more: Any) -> PredictedNoise:
    known: dict[str, Any] = {
        "draw": "rand_like", "mean": 0.5, "std": 0.289, "given_mean": 0.003, "given_std": 0.997, "low": -3.1,
        "high": 3.2, "count": 4096, "steps": 4, "loss": "mse_loss", "frame": DRAWN, "given_frame": CALLED,
    }  # fmt: skip
    return PredictedNoise(ref=ref(59), **{**known, **more})


def judged(*facts: PredictedNoise) -> list[Finding]:
    return list(NoiseDiffers().judge(told(*facts, step=59)))


GAUSSIAN = {"draw": "randn", "mean": 0.0, "std": 1.0}
UNIFORM = {"given_mean": 0.5, "given_std": 0.289, "low": 0.0, "high": 1.0}


def test_uniform_noise_and_a_gaussian_sampler():
    (finding,) = judged(a_noise(), a_noise(given_frame=Frame("/home/someone/train.py", 50)))
    assert finding.message == (
        "step 59, rank 0: the noise that the model predicts is drawn by rand_like (train.py:30) with mean 0.5 and std "
        "0.289, and it generates from noise (train.py:43) with mean 0.003 and std 0.997; expected one distribution: "
        "what it generates from is 3.45 x -1.72, x what it was trained on. Draw both with the same function."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", DRAWN, CALLED)


def test_gaussian_noise_and_a_uniform_sampler():
    assert len(judged(a_noise(**GAUSSIAN, **UNIFORM))) == 1


@pytest.mark.parametrize(
    "more",
    [
        GAUSSIAN,
        UNIFORM,
        {"given_mean": 0.3, "given_std": 0.7},  # a noisy sample of a validation
        {"given_std": 80.0},  # a sampler that scales its noise
        {**GAUSSIAN, "given_std": 80.0},
        {**GAUSSIAN, "given_mean": 0.45, "given_std": 0.25, "low": 0.0, "high": 1.0},  # images
        {"low": 0.0},
        {"count": 200},
        {"steps": 1},
        {"std": 0.0},
    ],
)
def test_one_distribution_and_inputs_of_neither_are_silent(more: dict[str, Any]):
    assert judged(a_noise(**more)) == []
