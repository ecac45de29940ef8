"""A token id is beyond the embedding table."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_token_out_of_table():
    finding = told("data/token-out-of-table")
    evidence = hears("token-out-of-range", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("make the table as long a")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("token-out-of-range", told("data/loader-bound"))
