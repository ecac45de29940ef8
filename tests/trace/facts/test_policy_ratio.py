"""A policy's ratio as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.policy_ratio import PolicyRatio
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line():
    fact = PolicyRatio(
        ref=ref(0), frame=LOADER, call_frame=None, old_frame=None, compared=96, off=60, low=0.5, high=2.0
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, None)
