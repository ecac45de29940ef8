"""A repeated draw as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.repeated_draw import RepeatedDraw
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line():
    fact = RepeatedDraw(ref=ref(2), draw="randn", shape=(8, 2), module="Denoiser", looks=3, frame=LOADER, made=None)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == LOADER
