"""Picks from log-probabilities: each line is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.loss_call import Maker
from debugtracer.trace.facts.picked_scores import PickedScores
from tests.checks.optimizer.seen import at, line


def test_its_key_tells_lines_apart():
    maker = Maker(function="log_softmax", dim=0, size=4)
    fact = PickedScores(
        ref=at(1), frame=line(3), function="gather", maker=maker, dim=1, size=5, picks=4, low=0.1, high=2
    )
    assert msgspec.structs.replace(fact, frame=line(4)).key() != fact.key()
    assert msgspec.structs.replace(fact, low=0.2).key() == fact.key()
