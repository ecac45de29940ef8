"""Samples come in the same or in sorted order."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_epoch_order():
    finding = told("data/epoch-order")
    evidence = hears("data-epoch-order", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("call loader.sampler.set_")


def test_what_else_was_seen_counts():
    finding = guess(told("data/epoch-order"))
    alone = hears("data-epoch-order", finding).confidence
    assert hears("data-epoch-order", finding, told("data/class-skew")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-epoch-order", told("data/loader-bound"), told("data/class-skew"))


def test_the_change_is_made_at_the_line():
    assert change("data-epoch-order", "loader = DataLoader(data, batch_size=30)") == (
        "loader = DataLoader(data, batch_size=30, shuffle=True)",
    )
    assert change("data-epoch-order", "pass") is None
