"""Padding among targets as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.padded_targets import PaddedTargets
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = PaddedTargets(
        ref=ref(), loss="cross_entropy", frame=LOADER, module=None, pad=0, share=0.5, rows=8, known_by="a comparison"
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("cross_entropy", LOADER)
