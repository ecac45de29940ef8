"""What causes ask of the findings of the checks."""

from __future__ import annotations

import msgspec

from debugtracer.causes.hearing import FAMILY_OF, Hearing
from debugtracer.checks.check import checks
from debugtracer.testing import a_finding
from debugtracer.trace.finding import LAYERS, Finding


def said(check: str, severity: str = "warning", **more: object) -> Finding:
    return msgspec.structs.replace(a_finding(check, severity), **more)


def test_every_check_of_a_family_exists_and_no_family_is_called_like_another_layer():
    assert set(FAMILY_OF) <= set(checks())
    assert not set(FAMILY_OF.values()) & set(LAYERS)


def test_notes_are_not_loud_and_the_strongest_comes_first():
    note, sure, unsure = said("a/n", "note", kind="x"), said("a/s", kind="x", confidence=0.8), said("a/u", kind="x", confidence=0.5)
    proof = said("a/p", kind="x", confidence=0.1, exact=True)
    assert Hearing((note, unsure, sure, proof)).of("x") == [proof, sure, unsure]


def test_findings_are_found_by_class_and_by_check():
    one, two = said("a/one", kind="x"), said("a/two")
    seen = Hearing((one, two))
    assert seen.of("x") == [one] and seen.of("y") == []
    assert seen.by("a/two", "a/none") == [two]


def test_checks_that_see_the_same_thing_are_one_family_and_others_are_of_their_layer():
    spike, divergence, late = said("optimizer/loss-spike"), said("optimizer/loss-divergence"), said("data/loader-bound")
    assert Hearing(()).families(spike, divergence, late) == {"loss", "data"}
