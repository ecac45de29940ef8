"""Joined graphs as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.graph_batch import GraphBatch
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_model_and_its_step():
    fact = GraphBatch(
        ref=ref(2),
        root="GIN",
        nodes=36,
        graphs=8,
        largest=6,
        edges=40,
        highest=5,
        looks=2,
        frame=LOADER,
        made=(LOADER,),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("GIN", 2)
