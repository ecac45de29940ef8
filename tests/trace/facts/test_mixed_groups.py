"""Groups of rows that mix the classes of a batch."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.mixed_groups import MixedGroups
from debugtracer.trace.step import StepRef


def test_it_survives_json_and_is_known_by_its_line_and_step():
    fact = MixedGroups(
        ref=StepRef(iteration=1, step=1),
        function="mean",
        sizes=(2, 5),
        dim=0,
        labels=(17, 3),
        path="batch[1]",
        turned=False,
        asked=False,
        frame=Frame("/p/train.py", 17),
        reader_frame=Frame("/p/train.py", 17),
        sampler="Episodes",
        drawn=Frame("/p/sampler.py", 12),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (Frame("/p/train.py", 17), 1)
