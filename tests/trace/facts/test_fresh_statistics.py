"""Statistics of a copy: one fact a line that evaluates it."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fresh_statistics import FreshStatistics
from tests.checks.optimizer.seen import at, line


def test_its_key_tells_facts_apart():
    fact = FreshStatistics(ref=at(1), module="1", norms=1, trained=20, kind="Net", frame=line(43))
    assert msgspec.structs.replace(fact, frame=line(44)).key() != fact.key()
    assert msgspec.structs.replace(fact, module="2").key() == fact.key()
