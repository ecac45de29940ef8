"""A load that left names out, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.names_ignored import NamesIgnored
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_the_load():
    fact = NamesIgnored(ref=ref(1), owner="Net", given=6, loaded=0, missing=6, healed=6, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, "Net", 6, 0)
