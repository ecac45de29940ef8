"""Outputs for the same inputs: each root is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.answer_spread import AnswerSpread
from tests.checks.optimizer.seen import at


def test_its_key_tells_roots_apart():
    fact = AnswerSpread(ref=at(64), root="Net", samples=4, first=0.1, now=0.2, scale=0.3)
    assert msgspec.structs.replace(fact, root="Critic").key() != fact.key()
    assert msgspec.structs.replace(fact, now=0.1).key() == fact.key()
