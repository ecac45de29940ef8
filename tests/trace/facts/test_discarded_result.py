"""A result that is thrown away, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.discarded_result import DiscardedResult
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = DiscardedResult(ref=ref(1), function="clamp", twin="clamp_", frame=LOADER, changed=0.5)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("clamp", LOADER)
