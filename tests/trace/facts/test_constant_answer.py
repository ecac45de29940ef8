"""A loss beside its constant answer, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.constant_answer import ConstantAnswer
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_loss_and_line():
    fact = ConstantAnswer(
        ref=ref(1), loss="mse_loss", frame=LOADER, answer="mean", value=0.5, called=0.5, constant="Infinity", rows=64
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("mse_loss", LOADER)
