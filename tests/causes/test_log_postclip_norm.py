"""The logged gradient norm is the one after clipping."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_postclip_norm():
    finding = told("logging/postclip-norm")
    evidence = hears("log-postclip-norm", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("log the return value: no")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("log-postclip-norm", told("data/loader-bound"))
