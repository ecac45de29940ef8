"""Updates that were taken back: each optimizer is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.undone_update import UndoneUpdate
from tests.checks.optimizer.seen import at


def test_its_key_tells_optimizers_apart():
    fact = UndoneUpdate(ref=at(1), optimizer=0, kind="SGD", moved=4)
    assert msgspec.structs.replace(fact, optimizer=1).key() != fact.key()
    assert msgspec.structs.replace(fact, back=4).key() == fact.key()
