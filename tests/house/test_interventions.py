"""Every intervention says what it does, is tried by a test, and is called by a name that exists."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomllib

from debugtracer.causes.cause import causes
from debugtracer.docstrings import title
from debugtracer.interventions.intervention import NARROW, Intervention, interventions

ROOT = Path(__file__).resolve().parents[2]
TESTS = "".join(p.read_text() for p in (ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("intervention", interventions().values(), ids=list(interventions()))
def test_an_intervention_is_documented_and_tried(intervention: Intervention) -> None:
    kind = type(intervention)
    assert kind.__doc__ and len(title(kind.__doc__)) > 20
    assert kind.apply.__doc__ and kind.apply is not Intervention.apply
    assert kind.scope in NARROW
    assert kind.cost > 0
    assert kind.unit or (kind.default is None and not kind.ladder)
    assert kind.default not in kind.ladder
    assert f'"{intervention.slug}"' in TESTS


def test_the_table_of_likelihoods_and_the_causes_name_interventions_that_exist() -> None:
    # the last three are tried over several steps
    known = {*interventions(), "reordered-batches", "one-line-fix", "skipped-update"}
    table = tomllib.loads((ROOT / "src" / "debugtracer" / "diagnosis" / "proof" / "likelihood.toml").read_text())
    named = {slug for row in table["families"].values() for slug in row} - {"default"}
    named |= {slug for cause in causes().values() for slug in getattr(cause, "proved_by", ())}
    assert named - known == set()
