"""A count of a pass, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.pass_count import PassCount
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_known_by_kind_name_and_line():
    fact = PassCount(ref=ref(1), kind="shared", name="right", use="right / 9", value=9.0, rows=8, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("shared", "right", LOADER)
