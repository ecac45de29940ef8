"""Two tables that give one name two ids."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.other_numbers import OtherNumbers
from debugtracer.trace.step import StepRef

MADE = Frame("/p/data.py", 73, "splits", "valid = Reviews.read(path)")


def renumbered(**known: object) -> OtherNumbers:
    """The words of a dataset of reviews."""
    given = {"attribute": "vocab.stoi", "common": 214, "differ": 213, "loader": None} | known
    return OtherNumbers(
        ref=StepRef(iteration=0, step=0), dataset="Reviews", name="the", trained=4, evaluated=7, frame=MADE,
        **given,  # type: ignore[arg-type]
    )  # fmt: skip


def test_it_survives_json() -> None:
    fact = renumbered()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_each_table_is_a_fact_of_its_own() -> None:
    assert renumbered().key() == renumbered(differ=100).key()
    assert renumbered().key() != renumbered(attribute="labels").key()
