"""The mask of the loss hides what should count, or lets padding count."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_pad_in_loss():
    finding = told("data/pad-in-loss")
    evidence = hears("label-mask-wrong", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("labels[attention_mask ==")


def test_what_else_was_seen_counts():
    finding = guess(told("data/pad-in-loss"))
    alone = hears("label-mask-wrong", finding).confidence
    assert hears("label-mask-wrong", finding, told("data/padding-waste")).confidence == alone  # the same family
    against = told("data/targets-all-ignored")
    assert hears("label-mask-wrong", finding, against).confidence < alone
    assert hears("label-mask-wrong", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("label-mask-wrong", told("data/loader-bound"), told("data/padding-waste"))
