"""A roll-back as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.went_back import WentBack
from tests.checks.windows import ref


def test_it_survives_json_and_each_roll_back_is_one_of_its_own():
    first, second = (WentBack(ref=ref(step), to_step=1) for step in (6, 9))
    assert from_plain(first.word(), msgspec.json.decode(msgspec.json.encode(to_plain(first)))) == first
    assert first.key() != second.key()
