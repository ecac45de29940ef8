"""Losses of one line, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.overwritten_loss import OverwrittenLoss
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = OverwrittenLoss(
        ref=ref(1), loss="mse_loss", frame=LOADER, calls=6, only_last=True, is_least=False, is_most=True
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 1)
