"""Weight decay pulls harder than the gradient."""

from __future__ import annotations

from debugtracer.checks.optimizer.decay_dominates import DecayDominates
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("optimizer/decay-dominates")
    evidence = hears("weight-decay-too-high", finding)
    assert evidence.leading == finding
    assert evidence.remedies == DecayDominates.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("weight-decay-too-high", told("data/loader-bound"), told("optimizer/decayed-gains"))
