"""Presets name checks and options that exist."""

from __future__ import annotations

import pytest

from debugtracer.checks.check import checks
from debugtracer.checks.presets import PRESETS
from debugtracer.checks.selection import select
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.batch_content import BatchProfile, LeafProfile, LoaderNote
from debugtracer.trace.step import StepRef


def test_there_are_the_defaults_and_the_articles():
    assert list(PRESETS) == ["default", "seed"]
    assert PRESETS["default"] == {}


@pytest.mark.parametrize(("slug", "values"), PRESETS["seed"].items(), ids=list(PRESETS["seed"]))
def test_the_preset_of_a_check_changes_options_it_has_to_values_of_their_type(slug, values):
    check = checks()[slug]
    for name, value in values.items():
        assert name in check.__struct_fields__
        assert isinstance(value, type(getattr(check, name)))
        assert value != getattr(check, name)


def test_the_range_of_the_articles_is_a_warning_for_each_loader_once():
    check = select("seed")["data/range-extreme"]
    judge, found = Judge({check.slug: check}), []
    leaves = tuple(
        LeafProfile(path=f"batch[{n}]", role=role, low=-5.0, high=2e4) for n, role in enumerate(("float", "ids"))
    )
    for step in (0, 20):
        profile = BatchProfile(
            ref=StepRef(iteration=step, step=step),
            loader=LoaderNote(number=1, dataset="Meters"),
            seen=1,
            looked=1,
            rows=8,
            training=True,
            leaves=leaves,
        )
        found += judge.judge(profile.ref, {}, [profile])
    assert [(f.severity, f.message) for f in found] == [
        (
            "warning",
            (
                "step 0, rank 0: batch[0] of Meters reaches from -5 to 2e+04; expected a range within 10000. Normalise "
                "it in the dataset."
            ),
        )
    ]
    judge = Judge({check.slug: checks()["data/range-extreme"]})
    assert list(judge.judge(profile.ref, {}, [profile])) == []
