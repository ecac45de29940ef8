"""Weights that add up to 1 along another dimension than that of their sum, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.attention_axes import AttentionAxes
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_each_look_is_news():
    fact = AttentionAxes(ref=ref(1), shape=(50, 12, 12), soft=1, summed=2, made=LOADER, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, LOADER, 1)
