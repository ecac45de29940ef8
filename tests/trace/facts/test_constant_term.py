"""A constant term, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.constant_term import ConstantTerm
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = ConstantTerm(ref=ref(1), frame=LOADER, sum_frame=None)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 1)
