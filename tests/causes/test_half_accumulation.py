"""A long sum is accumulated in half precision."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_half_reduction():
    finding = told("numerics/half-reduction")
    evidence = hears("half-accumulation", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("add up in float32: x.sum")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("half-accumulation", told("data/loader-bound"))
