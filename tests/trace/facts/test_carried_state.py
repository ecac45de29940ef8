"""A state of other samples, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.carried_state import CarriedState
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_each_batch_is_news():
    fact = CarriedState(
        ref=ref(1), module="r", layer="GRU", rows=8, before=(3, 4), now=(9, 1), loader=LOADER, made=LOADER, frame=LOADER
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("r", fact.ref.iteration)
