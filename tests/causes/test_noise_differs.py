"""Noise of training that is not the noise of the sampler."""

from __future__ import annotations

from debugtracer.checks.data.noise_differs import NoiseDiffers
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("data/noise-differs")
    evidence = hears("noise-differs", finding)
    assert evidence.leading == finding
    assert evidence.remedies == NoiseDiffers.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("noise-differs", told("data/loader-bound"))
