"""Soft targets as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.soft_target import SoftTarget
from tests.checks.optimizer.seen import at, line


def look(number: int) -> SoftTarget:
    return SoftTarget(
        ref=at(number), loss="kl_div", loss_frame=line(45), frame=line(74), classes=3, soft=(0, 2), hard=(1, 2),
        top=0.6, samples=(4, 9), made_of=(7, 1), made=line(50), number=number,
    )  # fmt: skip


def test_it_survives_json_and_each_look_is_news():
    assert from_plain(look(0).word(), to_plain(look(0))) == look(0)
    assert look(0).key() != look(1).key()
