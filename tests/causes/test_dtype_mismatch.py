"""Tensors of different dtypes meet."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_dtype_mismatch():
    finding = told("numerics/dtype-mismatch")
    evidence = hears("dtype-mismatch", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("convert the tensor where")


def test_what_else_was_seen_counts():
    finding = guess(told("numerics/dtype-mismatch"))
    alone = hears("dtype-mismatch", finding).confidence
    assert hears("dtype-mismatch", finding, told("data/dtype-drift")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("dtype-mismatch", told("data/loader-bound"), told("data/dtype-drift"))
