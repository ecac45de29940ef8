"""Two weights that should be one are two."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_tie_broken():
    finding = told("model/tie-broken")
    evidence = hears("tie-broken", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("tie them again after it ")


def test_what_else_was_seen_counts():
    finding = guess(told("model/tie-broken"))
    alone = hears("tie-broken", finding).confidence
    assert hears("tie-broken", finding, told("optimizer/shared-params")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("tie-broken", told("data/loader-bound"), told("optimizer/shared-params"))
