"""unscale_ is called twice in one update."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_double_unscale():
    finding = told("optimizer/double-unscale")
    evidence = hears("amp-double-unscale", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("call scaler.unscale_(opt")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("amp-double-unscale", told("data/loader-bound"))
