"""Lengths of 1 along another dimension than that of the sum, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.crossed_lengths import CrossedLengths
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_each_look_is_news():
    fact = CrossedLengths(
        ref=ref(1), shape=(96, 24), unit=0, summed=1, low=0.2, high=0.7, softmax="exp", made=LOADER, frame=LOADER
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, LOADER, 1)
