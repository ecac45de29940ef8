"""Equal views as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.equal_views import EqualViews
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = EqualViews(ref=ref(1), root="Net", samples=8, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("Net", 1)
