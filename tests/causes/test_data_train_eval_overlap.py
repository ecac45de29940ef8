"""Samples of the evaluation were trained on."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_train_eval_overlap():
    finding = told("data/train-eval-overlap")
    evidence = hears("data-train-eval-overlap", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("rows that have nothing in common: split once")


def test_what_else_was_seen_counts():
    finding = guess(told("data/train-eval-overlap"))
    alone = hears("data-train-eval-overlap", finding).confidence
    against = told("optimizer/validation-gap")
    assert hears("data-train-eval-overlap", finding, against).confidence < alone
    assert hears("data-train-eval-overlap", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-train-eval-overlap", told("data/loader-bound"))
