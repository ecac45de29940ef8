"""A batch is too small for batch statistics."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_batch_of_one():
    finding = told("data/batch-of-one")
    evidence = hears("norm-degenerate-batch", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("drop_last=True in the Da")


def test_what_else_was_seen_counts():
    finding = guess(told("data/batch-of-one"))
    alone = hears("norm-degenerate-batch", finding).confidence
    assert hears("norm-degenerate-batch", finding, told("data/short-batch")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("norm-degenerate-batch", told("data/loader-bound"), told("data/short-batch"))


def test_the_change_is_made_at_the_line():
    assert change("norm-degenerate-batch", "loader = DataLoader(data, shuffle=True)") == (
        "loader = DataLoader(data, shuffle=True, drop_last=True)",
    )
    assert change("norm-degenerate-batch", "pass") is None
