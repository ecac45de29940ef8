"""A copy that acts and is never written, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.acting_copy import ActingCopy
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line():
    fact = ActingCopy(ref=ref(2), module="Q", rounds=4, updates=2, apart=0.1, frame=LOADER, called=None)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == LOADER
