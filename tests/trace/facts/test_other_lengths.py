"""Rows that are packed by the lengths of others."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.other_lengths import OtherLengths
from debugtracer.trace.step import StepRef


def other(step, differ=36, rows=40):
    return OtherLengths(
        ref=StepRef(iteration=step, step=step),
        rows=rows,
        differ=differ,
        given=(30, 29, 28, 28),
        ends=(16, 22, 13, 30),
        frame=Frame("/p/model.py", 9),
    )


def test_it_survives_json_and_is_known_by_its_line_and_step():
    fact = other(1)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (Frame("/p/model.py", 9), 1)
