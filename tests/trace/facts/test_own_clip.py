"""A clip by hand as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.own_clip import OwnClip
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_each_of_the_first_is_told():
    fact = OwnClip(ref=ref(1), frame=LOADER, limit=0.25, why="none", number=1)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 1)
