"""A copy that does not move as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.blended_copy import BlendedCopy
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = BlendedCopy(ref=ref(2), param="fc.weight", kept=0.98, taken=0.02, frame=LOADER, looks=3, moved=0.1)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == LOADER
