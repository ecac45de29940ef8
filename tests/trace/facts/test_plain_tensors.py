"""Looks at plain tensors of one optimizer have one key."""

from __future__ import annotations

from debugtracer.trace.facts.plain_tensors import PlainTensors
from tests.checks.optimizer.seen import at


def test_looks_at_one_optimizer_have_one_key():
    first, second, other = (
        PlainTensors(ref=at(step), optimizer="Adam", number=number, count=1, held=2)
        for step, number in ((0, 0), (1, 0), (1, 1))
    )
    assert first.key() == second.key() != other.key()
