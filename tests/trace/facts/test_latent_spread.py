"""A logarithm of a variance that scales noise, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.latent_spread import LatentSpread
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_each_look_is_news():
    fact = LatentSpread(ref=ref(1), raw=False, shape=(50, 4), frame=LOADER, product=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 1)
