"""Averages of one tensor: each look at a line is a fact of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.own_average import OwnAverage
from tests.checks.optimizer.seen import at, line


def test_its_key_tells_facts_apart():
    fact = OwnAverage(ref=at(1), shape=(4, 4), kept=0.9, taken=0.1, frame=line(16), caller=None)
    assert msgspec.structs.replace(fact, frame=line(17)).key() != fact.key()
    assert msgspec.structs.replace(fact, kept=0.8).key() == fact.key()
