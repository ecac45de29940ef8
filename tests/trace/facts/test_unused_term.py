"""A term that nobody used, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.unused_term import UnusedTerm
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_every_backward_is_news():
    facts = [UnusedTerm(ref=ref(n), number=0, terms=2, used=False, parameters=4, backward=LOADER) for n in (1, 3)]
    assert from_plain(facts[0].word(), msgspec.json.decode(msgspec.json.encode(to_plain(facts[0])))) == facts[0]
    assert facts[0].key() != facts[1].key()
