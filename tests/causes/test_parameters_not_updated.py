"""step() runs and parameters stay as they are."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_no_update():
    finding = told("optimizer/no-update")
    evidence = hears("parameters-not-updated", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("write in place under tor")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/no-update"))
    alone = hears("parameters-not-updated", finding).confidence
    assert hears("parameters-not-updated", finding, told("optimizer/loss-plateau")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("parameters-not-updated", told("data/loader-bound"), told("optimizer/loss-plateau"))
