"""The device has no memory left."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_out_of_memory():
    finding = told("device/out-of-memory")
    evidence = hears("out-of-memory", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("a smaller batch with gra")


def test_what_else_was_seen_counts():
    finding = guess(told("device/out-of-memory"))
    alone = hears("out-of-memory", finding).confidence
    assert hears("out-of-memory", finding, told("logging/held-graph")).confidence > alone
    assert hears("out-of-memory", finding, told("device/memory-growth")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("out-of-memory", told("data/loader-bound"), told("logging/held-graph"))
