"""What a model sees of its own place, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.own_places import OwnPlaces
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_model():
    fact = OwnPlaces(
        ref=ref(1), root="Made", tried=16, own=16, reached=120, ordered=True, loss="cross_entropy", called=LOADER
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("Made", LOADER)
