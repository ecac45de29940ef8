"""Groups without a rate: one fact a group."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.idle_group import IdleGroup
from tests.checks.optimizer.seen import at, line


def test_its_key_tells_facts_apart():
    fact = IdleGroup(
        ref=at(1),
        optimizer=0,
        kind="SGD",
        frame=line(9),
        group=0,
        groups=2,
        updates=60,
        values=10,
        share=0.5,
        param="0.weight",
        rate=0.1,
    )
    assert msgspec.structs.replace(fact, group=1).key() != fact.key()
    assert msgspec.structs.replace(fact, updates=70).key() == fact.key()
