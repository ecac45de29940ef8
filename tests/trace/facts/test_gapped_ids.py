"""Ids with gaps as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.gapped_ids import GappedIds
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    fact = GappedIds(
        ref=StepRef(iteration=3, step=3),
        number=40,
        size=40,
        entry="'oak'",
        name="Words.ids",
        entries=40,
        low=0,
        high=61,
        filled=Frame("/p/words.py", 9),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
