"""An attention that looks at padding, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.attended_padding import AttendedPadding
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_each_look_is_news():
    fact = AttendedPadding(ref=ref(1), function="masked_fill", kept=0.25, value=0, shut=9, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 1)
