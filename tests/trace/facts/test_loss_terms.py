"""Terms of a loss as values."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.loss_terms import LossTerms, Term
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = LossTerms(ref=ref(1), terms=(Term(value=-2.0, frame=LOADER), Term(value=1.0, frame=None)), frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 1)
