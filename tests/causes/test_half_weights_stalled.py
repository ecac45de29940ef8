"""Updates are smaller than half precision can add."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_half_stalled():
    finding = told("numerics/half-stalled")
    evidence = hears("half-weights-stalled", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("keep the weights in floa")


def test_what_else_was_seen_counts():
    finding = guess(told("numerics/half-stalled"))
    alone = hears("half-weights-stalled", finding).confidence
    assert hears("half-weights-stalled", finding, told("optimizer/loss-plateau")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("half-weights-stalled", told("data/loader-bound"), told("optimizer/loss-plateau"))
