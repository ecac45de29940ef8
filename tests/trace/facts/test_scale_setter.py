"""A number that sets the scale as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.scale_setter import ScaleSetter
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    fact = ScaleSetter(
        ref=StepRef(iteration=0, step=0),
        name="Windows.flow",
        row=411,
        column=5,
        low=0.0006,
        high=0.002,
        samples=(411,),
        count=1,
        record=Frame("/p/flows.csv", 413),
        cell="weir_5 is 32767",
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
