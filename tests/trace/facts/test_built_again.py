"""A line that builds optimizers again and again as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.built_again import BuiltAgain
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line():
    fact = BuiltAgain(ref=ref(7), what="optimizer", kind="Adam", frame=LOADER, built=8, steps=1, calm=6)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("optimizer", LOADER)
