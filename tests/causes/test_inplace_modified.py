"""A tensor that backward needs was changed in place."""

from __future__ import annotations

from tests.causes.listening import change, hears, is_silent, told


def test_hears_inplace_modified():
    finding = told("model/inplace-modified")
    evidence = hears("inplace-modified", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("write a new tensor: x = ")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("inplace-modified", told("data/loader-bound"))


def test_the_change_is_made_at_the_line():
    assert change("inplace-modified", "hidden *= gate") == ("hidden = hidden * gate",)
    assert change("inplace-modified", "pass") is None
