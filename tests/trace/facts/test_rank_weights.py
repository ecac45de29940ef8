"""The weights of one rank as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.rank_weights import RankWeights
from tests.checks.windows import ref


def test_it_survives_json_and_each_look_is_news():
    fact = RankWeights(
        ref=ref(50), optimizer="SGD", built=None, number=1, names=("a",), before=(2**62 + 1,), grads_l2=(0.5,)
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (1, 50)
