"""The level of a hinge as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.hinge_level import HingeLevel
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line():
    fact = HingeLevel(ref=ref(0), function="relu", frame=LOADER, rows=8, margin=0.2, off=0.01, by_hand=True)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("relu", LOADER)
