"""Much of each batch is padding."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_padding_waste():
    finding = told("data/padding-waste")
    evidence = hears("data-padding-waste", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("pad in collate_fn to the")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-padding-waste", told("data/loader-bound"))
