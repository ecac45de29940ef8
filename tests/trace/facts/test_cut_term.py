"""A term without a graph as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.cut_term import CutTerm
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_lines_and_its_step():
    fact = CutTerm(ref=ref(1), function="no_grad", reduced="mse_loss", frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, None, 1)
