"""Two loaders that belong together have drifted apart."""

from __future__ import annotations

from debugtracer.checks.data.pairs_broken import PairsBroken
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("data/pairs-broken")
    evidence = hears("data-pairs-broken", finding)
    assert evidence.leading == finding
    assert evidence.remedies == PairsBroken.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-pairs-broken", told("data/loader-bound"), told("optimizer/loss-plateau"))
