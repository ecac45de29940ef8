"""Updates that climb, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.climb import Climb
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    fact = Climb(
        ref=StepRef(iteration=2, step=2), function="cross-entropy", updates=3, cosine=0.9, turned=True, start=-1.2,
        frame=Frame(file="train.py", line=4, function="main", code="loss = -cost"),
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
