"""Rows of a loss: each look at a line is a fact of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.rows_taken import RowsTaken
from tests.checks.optimizer.seen import at, line


def test_its_key_tells_facts_apart():
    fact = RowsTaken(
        ref=at(1),
        loss="mse_loss",
        loss_frame=line(14),
        frame=line(13),
        input_frame=line(13),
        length=960,
        rows=32,
        same=1,
        shifted=False,
        first=((802, 0),),
    )
    assert msgspec.structs.replace(fact, frame=line(12)).key() != fact.key()
    assert msgspec.structs.replace(fact, same=2).key() == fact.key()
