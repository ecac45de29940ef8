"""A checkpoint holds values that are not finite."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_ckpt_nonfinite():
    finding = told("rollback/ckpt-nonfinite")
    evidence = hears("ckpt-nonfinite", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("save only when every ten")


def test_what_else_was_seen_counts():
    finding = guess(told("rollback/ckpt-nonfinite"))
    alone = hears("ckpt-nonfinite", finding).confidence
    assert hears("ckpt-nonfinite", finding, told("numerics/nonfinite-parameter")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ckpt-nonfinite", told("data/loader-bound"), told("numerics/nonfinite-parameter"))
