"""A look at a backward, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.zero_backward import ZeroBackward
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_every_look_is_news():
    facts = [ZeroBackward(ref=ref(n), function="Reverse", frame=LOADER, zero=True) for n in (1, 3)]
    assert from_plain(facts[0].word(), msgspec.json.decode(msgspec.json.encode(to_plain(facts[0])))) == facts[0]
    assert facts[0].key() != facts[1].key()
