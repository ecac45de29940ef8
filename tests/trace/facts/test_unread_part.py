"""A part that nobody reads, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.unread_part import UnreadPart
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = UnreadPart(ref=ref(1), name="weights", frame=LOADER, part="class weights", kind="Tensor", count=3)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("weights", LOADER)
