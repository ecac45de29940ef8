"""What causes ask of the findings of the checks."""

from __future__ import annotations

from collections import Counter

import msgspec

from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.checks.check import checks
from debugtracer.testing import a_finding
from debugtracer.trace.finding import LAYERS, Finding


def said(check: str, severity: str = "warning", **more: object) -> Finding:
    return msgspec.structs.replace(a_finding(check, severity), **more)


def test_a_family_has_several_checks_and_is_not_called_like_a_layer():
    families = Counter(check.family for check in checks().values() if check.family)
    assert min(families.values()) > 1
    assert not families.keys() & set(LAYERS)


def test_notes_are_not_loud_and_the_strongest_comes_first():
    note, sure, unsure = (
        said("a/n", "note", kind="x"),
        said("a/s", kind="x", confidence=0.8),
        said("a/u", kind="x", confidence=0.5),
    )
    proof = said("a/p", kind="x", confidence=0.1, exact=True)
    assert FindingEvidence((note, unsure, sure, proof)).of("x") == [proof, sure, unsure]


def test_findings_are_found_by_class_and_by_check():
    one, two = said("a/one", kind="x"), said("a/two")
    seen = FindingEvidence((one, two))
    assert seen.of("x") == [one] and seen.of("y") == []
    assert seen.by("a/two", "a/none") == [two]


def test_checks_that_see_the_same_thing_are_one_family_and_others_are_of_their_layer():
    spike, divergence, late = said("optimizer/loss-spike"), said("optimizer/loss-divergence"), said("data/loader-bound")
    assert FindingEvidence(()).families(spike, divergence, late) == {"loss", "data"}


def test_a_finding_of_a_check_that_this_version_does_not_have_is_of_its_layer():
    assert FindingEvidence(()).families(said("model/of-an-older-version")) == {"model"}
