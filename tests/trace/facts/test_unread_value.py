"""A tensor that nobody reads, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.unread_value import UnreadValue
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = UnreadValue(
        ref=ref(1), name="masked", frame=LOADER, shape=(4, 3), how="replaced", like="scores", changed=0.5
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("masked", LOADER)
