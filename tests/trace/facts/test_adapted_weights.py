"""Adapted weights as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.adapted_weights import AdaptedWeights
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.facts_at import line, ref


def seen(step):
    return AdaptedWeights(
        ref=ref(step), weights=4, tensors=8, tried=2, frame=line(9), made_frame=line(7), backward_frame=line(12)
    )


def test_it_survives_json():
    fact = seen(1)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_each_look_is_news():
    assert seen(1).key() == seen(1).key() != seen(2).key()
