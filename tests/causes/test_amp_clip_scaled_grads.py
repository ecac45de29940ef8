"""Gradients are clipped while they carry the loss scale."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_clip_before_unscale():
    finding = told("optimizer/clip-before-unscale")
    evidence = hears("amp-clip-scaled-grads", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("call scaler.unscale_(opt")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/clip-before-unscale"))
    alone = hears("amp-clip-scaled-grads", finding).confidence
    assert hears("amp-clip-scaled-grads", finding, told("optimizer/clip-share")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("amp-clip-scaled-grads", told("data/loader-bound"), told("optimizer/clip-share"))
