"""Filled labels as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.filled_target import FilledTarget
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line_and_step():
    fact = FilledTarget(
        ref=ref(2), fill=3, classes=4, filled=114, written=46, same=16, loss="cross_entropy", frame=LOADER,
        loss_frame=None,
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 2)
