"""Objectives of two optimizers: each pair is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.critic_gradient import CriticGradient
from tests.checks.optimizer.seen import at


def test_its_key_tells_pairs_apart():
    fact = CriticGradient(ref=at(1), optimizer=1, kind="Adam", other=0)
    assert msgspec.structs.replace(fact, other=2).key() != fact.key()
    assert msgspec.structs.replace(fact, number=1).key() == fact.key()
