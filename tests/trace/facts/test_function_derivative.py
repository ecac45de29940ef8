"""A compared backward as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.function_derivative import FunctionDerivative
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = FunctionDerivative(
        ref=ref(), function="Swish", frame=LOADER, input=1, difference="factor", derivative=0.4, backward=0.2, ratio=0.5
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("Swish", LOADER, 1)
