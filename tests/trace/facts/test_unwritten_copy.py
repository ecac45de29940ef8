"""A copy that no line writes, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.unwritten_copy import UnwrittenCopy
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_known_by_its_line():
    fact = UnwrittenCopy(ref=ref(1), module="QNet", name="target", updates=2, apart=0.02, made=LOADER, called=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == LOADER
