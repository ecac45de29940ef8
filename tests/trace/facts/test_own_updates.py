"""The fact of a loop that writes its weights itself."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.own_updates import OwnUpdates
from tests.checks.optimizer.seen import at, line


def test_it_comes_back_from_disk():
    fact = OwnUpdates(ref=at(3), backwards=4, updates=3, backward_frame=line(2))
    assert from_plain(OwnUpdates.word(), to_plain(fact)) == fact
