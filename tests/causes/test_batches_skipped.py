"""More batches are skipped than a few accidents would need."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_skip_budget():
    finding = told("rollback/skip-budget")
    evidence = hears("batches-skipped", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("look at the samples of t")


def test_what_else_was_seen_counts():
    finding = guess(told("rollback/skip-budget"))
    alone = hears("batches-skipped", finding).confidence
    assert hears("batches-skipped", finding, told("numerics/scaler-backoff")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("batches-skipped", told("data/loader-bound"), told("numerics/scaler-backoff"))
