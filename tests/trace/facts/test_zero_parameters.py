"""Parameters stuck at 0: each optimizer is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.zero_parameters import ZeroParameters
from tests.checks.optimizer.seen import at


def test_its_key_tells_optimizers_apart():
    fact = ZeroParameters(ref=at(1), optimizer=0, kind="Adam", updates=2, looks=2)
    assert msgspec.structs.replace(fact, optimizer=1).key() != fact.key()
    assert msgspec.structs.replace(fact, updates=4).key() == fact.key()
