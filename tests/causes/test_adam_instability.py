"""Adam's second moment is behind the gradient, and an update is too large."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_element_spike():
    finding = told("optimizer/element-spike")
    evidence = hears("adam-instability", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("look at the batch of tha")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/element-spike"))
    alone = hears("adam-instability", finding).confidence
    assert hears("adam-instability", finding, told("optimizer/loss-spike")).confidence > alone
    against = told("optimizer/lr-jump")
    assert hears("adam-instability", finding, against).confidence < alone
    assert hears("adam-instability", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("adam-instability", told("data/loader-bound"), told("optimizer/loss-spike"))


def test_the_change_is_made_at_the_line():
    assert change("adam-instability", "opt = Adam(net.parameters(), lr=3e-3)") == (
        "opt = Adam(net.parameters(), lr=3e-3, betas=(0.9, 0.95))",
    )
    assert change("adam-instability", "pass") is None
