"""A number far from all others in a batch that no loader delivered."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.far_number import FarNumber
from tests.checks.optimizer.seen import at


def test_it_comes_back_from_disk_as_it_was_and_each_is_new():
    record = Frame("/data/ratings.txt", 5003, "", "75 101 1086393600")
    first, second = (
        FarNumber(
            ref=at(step), loss=5e14, usual=8.5, name="inputs", row=17, place=(23,), value=1086393600.0, low=0.0,
            high=5.0, record=record, made=None, backward=None,
        )
        for step in (4, 7)
    )  # fmt: skip
    assert from_plain("far-number/FarNumber", to_plain(first)) == first
    assert first.key() != second.key()
