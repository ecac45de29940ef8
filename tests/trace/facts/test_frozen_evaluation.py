"""Parameters that stayed frozen: each set is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.frozen_evaluation import FrozenEvaluation
from tests.checks.optimizer.seen import at


def test_its_key_tells_parameters_apart():
    fact = FrozenEvaluation(ref=at(1), params=("a",), count=1, share=0.5, held=2, steps=10)
    assert msgspec.structs.replace(fact, params=("b",)).key() != fact.key()
    assert msgspec.structs.replace(fact, steps=20).key() == fact.key()
