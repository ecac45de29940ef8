"""A long sum is accumulated in half precision."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_half_reduction():
    finding = told("numerics/half-reduction")
    signs = hears("half-accumulation", finding)
    assert signs.leading == finding
    assert signs.exact is False
    assert signs.remedies[0].startswith("add up in float32: x.sum")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("half-accumulation", told("data/loader-bound"))
