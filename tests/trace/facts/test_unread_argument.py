"""An argument that is not read, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.unread_argument import UnreadArgument
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_class_and_argument():
    fact = UnreadArgument(ref=ref(), root="Pair", argument="b", other="a", reads=2, shape=(4, 3), frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("Pair", "b")
