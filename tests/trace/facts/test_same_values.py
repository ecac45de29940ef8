"""One batch for all steps as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.same_values import SameValues
from tests.checks.windows import ref


def test_it_survives_json_and_is_told_once_for_each_answer():
    fact = SameValues(ref=ref(2), looks=3)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() != SameValues(ref=ref(2), looks=4, same=False).key()
