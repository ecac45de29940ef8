"""The update looks at other observations or actions."""

from __future__ import annotations

from debugtracer.checks.model.policy_ratio import PolicyRatio
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("model/policy-ratio")
    evidence = hears("rollout-mismatch", finding)
    assert evidence.leading == finding
    assert evidence.remedies == PolicyRatio.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("rollout-mismatch", told("data/loader-bound"), told("optimizer/loss-plateau"))
