"""Replicas stop being equal."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_replica_drift():
    finding = told("device/replica-drift")
    evidence = hears("ddp-replica-drift", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("call the wrapper (model(")


def test_what_else_was_seen_counts():
    finding = guess(told("device/replica-drift"))
    alone = hears("ddp-replica-drift", finding).confidence
    assert hears("ddp-replica-drift", finding, told("device/rank-skew")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ddp-replica-drift", told("data/loader-bound"), told("device/rank-skew"))
