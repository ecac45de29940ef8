"""Norms of a gradient penalty along other axes than those of each sample."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.penalty_axes import PenaltyAxes
from debugtracer.trace.step import StepRef


def test_it_survives_json_and_is_known_by_its_line_and_step():
    fact = PenaltyAxes(
        ref=StepRef(iteration=1, step=1),
        function="norm",
        shape=(64, 4),
        folded=(0,),
        frame=Frame("/p/penalty.py", 7),
        grad_frame=Frame("/p/penalty.py", 5),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (Frame("/p/penalty.py", 7), 1)
