"""The sample with a number that has no place, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.outside_record import OutsideRecord
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    fact = OutsideRecord(
        ref=StepRef(iteration=3, step=3),
        number=5,
        size=5,
        path="[2]",
        samples=(62,),
        value=4,
        low=0,
        high=3,
        beside=112,
        name="000062.jpg",
        record=Frame("/p/train.txt", 63),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
