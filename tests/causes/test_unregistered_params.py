"""Layers are not registered in the module tree."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_unregistered_params():
    finding = told("model/unregistered-params")
    evidence = hears("unregistered-params", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("use nn.ModuleList, nn.Mo")


def test_what_else_was_seen_counts():
    finding = guess(told("model/unregistered-params"))
    alone = hears("unregistered-params", finding).confidence
    assert hears("unregistered-params", finding, told("optimizer/missing-params")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("unregistered-params", told("data/loader-bound"), told("optimizer/missing-params"))
