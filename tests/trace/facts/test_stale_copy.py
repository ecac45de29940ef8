"""A copy that is never written, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.stale_copy import StaleCopy
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line():
    fact = StaleCopy(ref=ref(2), module="Q", updates=2, apart=0.1, frame=LOADER, called=None, never="`a` never holds")
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == LOADER
