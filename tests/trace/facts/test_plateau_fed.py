"""A call of a plateau scheduler as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.plateau_fed import PlateauFed
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_each_call_is_new():
    fact = PlateauFed(
        ref=ref(3), scheduler=0, frame=LOADER, step_frame=None, mode="max", patience=1, threshold=1e-4, relative=True,
        value=0.5, rate=0.1,
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (0, 3)
