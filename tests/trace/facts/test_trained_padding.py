"""A loss that trains padding, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.trained_padding import TrainedPadding
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_each_look_is_news():
    fact = TrainedPadding(ref=ref(1), value=0.0, whole=True, kept=0.3, others=11, root="Tagger", compared=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, None, 1)
