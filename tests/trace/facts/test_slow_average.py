"""An average that has hardly left its first values as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.slow_average import SlowAverage
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = SlowAverage(
        ref=ref(2), param="fc.weight", share=0.001, updates=200, covered=0.1, evaluated=0.12, frame=LOADER, given=None,
        called=None,
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == LOADER
