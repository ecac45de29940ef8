"""Two exchanged tables as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.exchanged_tables import ExchangedTables
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    fact = ExchangedTables(
        ref=StepRef(iteration=0, step=0),
        rows=45,
        high=129,
        path="way",
        other_rows=130,
        column="batch[1]",
        other_high=44,
        given=Frame("/p/data.py", 16),
        taken=Frame("/p/train.py", 42),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
