"""Tensors on different devices meet."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_device_mismatch():
    finding = told("device/device-mismatch")
    evidence = hears("device-mismatch", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("move the batch: x = x.to")


def test_what_else_was_seen_counts():
    finding = guess(told("device/device-mismatch"))
    alone = hears("device-mismatch", finding).confidence
    assert hears("device-mismatch", finding, told("model/unregistered-params")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("device-mismatch", told("data/loader-bound"), told("model/unregistered-params"))
