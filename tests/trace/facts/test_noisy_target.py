"""Noisy inputs as targets: each line is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.noisy_target import NoisyTarget
from tests.checks.optimizer.seen import at, line


def test_its_key_tells_lines_apart():
    fact = NoisyTarget(ref=at(1), loss="mse_loss", noise=0.5, frame=line(3))
    assert msgspec.structs.replace(fact, frame=line(4)).key() != fact.key()
    assert msgspec.structs.replace(fact, number=1).key() == fact.key()
