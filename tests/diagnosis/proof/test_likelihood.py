"""The table is data; every word in it means something."""

import pytest

from debugtracer.causes.cause import causes
from debugtracer.diagnosis.proof.likelihood import UNKNOWN, family, healed, named, settles, table
from debugtracer.interventions.intervention import interventions

OWN = {"data-label-noise"}
"""A class of our own that has a cause of that name only in the table."""


def test_every_cause_is_known_and_has_a_family():
    for slug, name in table()["causes"].items():
        assert slug in causes(), slug
        assert name in table()["families"], name


@pytest.mark.parametrize("part", ["families", "finite"])
def test_every_probability_is_one_and_every_intervention_is_known(part):
    for row in table()[part].values():
        assert 0 < row["default"] < 1
        for slug, p in row.items():
            assert 0 < p < 1
            assert slug == "default" or slug in interventions(), slug


def test_the_finite_causes_are_known():
    assert {slug for slug in table()["finite"] if slug not in causes()} <= {UNKNOWN, *OWN}


@pytest.mark.parametrize("slug", sorted(table()["causes"]))
def test_what_proves_a_cause_is_expected_to_heal_it(slug):
    known = [p for p in causes()[slug].proved_by if p in interventions()]
    assert not known or any(healed(slug, p) >= 0.4 for p in known)
    for broad in causes()[slug].refuted_by:
        if broad in interventions():
            assert healed(slug, broad) <= 0.5


def test_a_value_does_not_matter_and_a_stranger_is_unknown():
    assert healed("log-domain", "stable-op=1e-06") == healed("log-domain", "stable-op") == 0.95
    assert family("nobody") == UNKNOWN
    assert healed("nobody", "stable-op") == settles("nobody", "other-batch") == 0.3


def test_only_what_a_row_names_can_tell_something():
    assert "other-batch" in named("finite")
    assert named("families", frozenset({"stored-state"})) == {"older-weights"}
