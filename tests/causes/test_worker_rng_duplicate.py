"""Loader workers or epochs repeat the same random numbers."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_worker_rng():
    finding = told("data/worker-rng")
    evidence = hears("worker-rng-duplicate", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("seed it in worker_init_f")


def test_what_else_was_seen_counts():
    finding = guess(told("data/worker-rng"))
    alone = hears("worker-rng-duplicate", finding).confidence
    assert hears("worker-rng-duplicate", finding, told("data/duplicate-batch")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("worker-rng-duplicate", told("data/loader-bound"), told("data/duplicate-batch"))
