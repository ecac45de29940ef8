"""The optimizer without its memory."""

from __future__ import annotations

from tests.interventions.building import poisoned, too_fast, trial


def test_broken_moments_are_healed_by_fresh_ones(monkeypatch, tmp_path):
    fresh = trial(monkeypatch, tmp_path, poisoned, "fresh-moments")
    assert (fresh.finite, fresh.change) == (True, "moments and step counts of the optimizer set to zero")


def test_sgd_without_momentum_has_no_memory(monkeypatch, tmp_path):
    assert trial(monkeypatch, tmp_path, too_fast, "fresh-moments").refused == "the optimizer keeps no state"
