"""Gradients are clipped after they were applied."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_clip_after_step():
    finding = told("optimizer/clip-after-step")
    evidence = hears("clip-misplaced", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("move the clipping betwee")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/clip-after-step"))
    alone = hears("clip-misplaced", finding).confidence
    assert hears("clip-misplaced", finding, told("optimizer/exploding-grad")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("clip-misplaced", told("data/loader-bound"), told("optimizer/exploding-grad"))
