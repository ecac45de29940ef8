"""A tensor of the batch changes its dtype in the middle of a run."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_dtype_drift():
    finding = told("data/dtype-drift")
    evidence = hears("data-dtype-drift", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("cast in __getitem__ or i")


def test_what_else_was_seen_counts():
    finding = guess(told("data/dtype-drift"))
    alone = hears("data-dtype-drift", finding).confidence
    assert hears("data-dtype-drift", finding, told("numerics/dtype-mismatch")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-dtype-drift", told("data/loader-bound"), told("numerics/dtype-mismatch"))
