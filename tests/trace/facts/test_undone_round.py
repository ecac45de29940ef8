"""Rounds of updates that were taken back: each module is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.undone_round import UndoneRound
from tests.checks.optimizer.seen import at


def test_its_key_tells_modules_apart():
    fact = UndoneRound(ref=at(1), module=0, name="Policy", updates=4)
    assert msgspec.structs.replace(fact, module=1).key() != fact.key()
    assert msgspec.structs.replace(fact, back=True).key() == fact.key()
