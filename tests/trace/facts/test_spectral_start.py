"""A spectral norm that has not measured its weight, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.spectral_start import SpectralStart
from tests.checks.windows import ref


def test_it_survives_json_and_is_told_once_for_a_model():
    fact = SpectralStart(ref=ref(0), root="Net", frame=None, parts=("up.weight",), of=2, estimate=0.01, norm=1.5)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == "Net"
