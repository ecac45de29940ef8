"""A tensor of the batch changes its shape."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_shape_drift():
    finding = told("data/shape-drift")
    evidence = hears("data-shape-mismatch", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("give every sample the sa")


def test_what_else_was_seen_counts():
    finding = guess(told("data/shape-drift"))
    alone = hears("data-shape-mismatch", finding).confidence
    assert hears("data-shape-mismatch", finding, told("model/loss-broadcast")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-shape-mismatch", told("data/loader-bound"), told("model/loss-broadcast"))
