"""Norms that are not finite as values."""

from __future__ import annotations

from debugtracer.trace.facts.clipping import ClipLimit, ClippedNonfinite
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.optimizer.seen import at


def test_a_norm_that_json_cannot_hold_survives_the_disk():
    fact = ClippedNonfinite(ref=at(3), frame=None, norm="Infinity", scaled=False)
    assert from_plain("clipping/ClippedNonfinite", to_plain(fact)) == fact


def test_a_limit_survives_the_disk():
    fact = ClipLimit(ref=at(3), limit=2.0)
    assert from_plain("clipping/ClipLimit", to_plain(fact)) == fact
