"""Batch after batch holds one class."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_class_skew():
    finding = told("data/class-skew")
    evidence = hears("data-class-skew", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("shuffle: DataLoader(...,")


def test_what_else_was_seen_counts():
    finding = guess(told("data/class-skew"))
    alone = hears("data-class-skew", finding).confidence
    assert hears("data-class-skew", finding, told("optimizer/loss-spike")).confidence > alone
    assert hears("data-class-skew", finding, told("data/epoch-order")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-class-skew", told("data/loader-bound"), told("data/epoch-order"))


def test_the_change_is_made_at_the_line():
    assert change("data-class-skew", "loader = DataLoader(data, batch_size=32, shuffle=False)") == (
        "loader = DataLoader(data, batch_size=32, shuffle=True)",
    )
    assert change("data-class-skew", "pass") is None
