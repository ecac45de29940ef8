"""Weights of an inner loop are not those that the loss is computed with."""

from __future__ import annotations

from debugtracer.checks.model.adapted_unused import AdaptedUnused
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("model/adapted-unused")
    evidence = hears("adapted-weights-unused", finding)
    assert evidence.leading == finding
    assert evidence.remedies == AdaptedUnused.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("adapted-weights-unused", told("model/detached-graph"))
