"""Where the padding stands, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.pad_inside import PadInside
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_the_embedding():
    fact = PadInside(
        ref=ref(), root="Reader", module="embed", pad=0, rows=32, inside=21, ends=27, columns=9, frame=LOADER
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("Reader", "embed")


def test_of_a_mask_it_is_told_by_the_line():
    fact = PadInside(
        ref=ref(), root="", module="", pad=0, rows=32, inside=21, ends=27, columns=9, frame=LOADER, masked=True
    )
    assert fact.key() == (LOADER,)
