"""Two loaders that part as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.paired_loaders import PairBroken
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = PairBroken(
        ref=ref(25), frame=LOADER, other_frame=None, equal=25, number=0, passes=1, rows=(1, 2), other_rows=(2, 1)
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, None)
