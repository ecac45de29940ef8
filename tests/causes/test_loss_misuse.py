"""The loss is fed with something else than it expects."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_cross_sample_leak():
    finding = told("model/cross-sample-leak")
    evidence = hears("loss-misuse", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("look at the dimension of")


def test_what_else_was_seen_counts():
    finding = guess(told("model/cross-sample-leak"))
    alone = hears("loss-misuse", finding).confidence
    assert hears("loss-misuse", finding, told("optimizer/loss-plateau")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("loss-misuse", told("data/loader-bound"), told("optimizer/loss-plateau"))


def test_the_change_is_made_at_the_line():
    assert change("loss-misuse", "return F.softmax(scores, dim=-1)") == ("return scores",)
    assert change("loss-misuse", "pass") is None
