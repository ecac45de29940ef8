"""The labels of a batch do not belong to its inputs."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_label_noise_batch():
    finding = told("data/label-noise-batch")
    evidence = hears("data-label-noise", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("compare the labels of th")


def test_what_else_was_seen_counts():
    finding = guess(told("data/label-noise-batch"))
    alone = hears("data-label-noise", finding).confidence
    assert hears("data-label-noise", finding, told("optimizer/loss-spike")).confidence > alone
    against = told("data/scale-drift")
    assert hears("data-label-noise", finding, against).confidence < alone
    assert hears("data-label-noise", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-label-noise", told("data/loader-bound"), told("optimizer/loss-spike"))
