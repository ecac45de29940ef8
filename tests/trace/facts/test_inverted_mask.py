"""An inverted mask as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.inverted_mask import InvertedMask
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = InvertedMask(ref=ref(1), mask=0, ignored=0.2, loss="cross_entropy", frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 1)
