"""A misspelt attribute as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.misspelt_name import MisspeltName
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line():
    fact = MisspeltName(ref=ref(0), path="words", layer="Embedding", name="weights", meant="weight", frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == LOADER
    assert MisspeltName(ref=ref(0), path="words", layer="Embedding", name="Bias", meant="bias").key() == (
        "words",
        "Bias",
    )
