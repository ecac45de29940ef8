"""The state of a recurrent layer is that of other samples."""

from __future__ import annotations

from debugtracer.checks.model.state_carried import StateCarried
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("model/state-carried")
    evidence = hears("state-carried", finding)
    assert evidence.leading == finding
    assert evidence.remedies == StateCarried.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("state-carried", told("model/detached-graph"))
