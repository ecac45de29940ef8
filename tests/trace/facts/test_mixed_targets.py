"""A mixture, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.mixed_targets import MixedTargets
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_every_look_is_news():
    more = {"frame": LOADER, "mixed": LOADER, "own": 0.9, "other": 0.1, "target_own": 0.1, "target_other": 0.9}
    facts = [MixedTargets(ref=ref(n), **more) for n in (1, 3)]
    assert from_plain(facts[0].word(), msgspec.json.decode(msgspec.json.encode(to_plain(facts[0])))) == facts[0]
    assert facts[0].key() != facts[1].key()
