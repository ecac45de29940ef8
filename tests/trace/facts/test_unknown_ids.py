"""Ids that no entry of a vocabulary has as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.unknown_ids import UnknownIds
from debugtracer.trace.step import StepRef


def test_it_survives_json_and_is_known_by_its_vocabulary():
    fact = UnknownIds(
        ref=StepRef(iteration=1, step=1),
        name="Ledger.guilds",
        entries=142,
        columns=("batch[0]", "batch[2]"),
        unknown=(31, 35),
        rows=64,
        frame=Frame("/p/train.py", 58),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == "Ledger.guilds"
