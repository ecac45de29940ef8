"""Networks that begin anew as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.fresh_start import FreshStart
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    fact = FreshStart(
        ref=StepRef(iteration=33, step=33),
        kind="SGD",
        updates=2,
        networks=2,
        near=0.04,
        frame=Frame("/p/train.py", 44),
        made=Frame("/p/train.py", 21),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
