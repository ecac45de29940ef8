"""Weights of classes as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.class_weights import ClassWeights
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line_its_weights_and_its_step():
    fact = ClassWeights(
        ref=ref(2),
        loss="nll_loss",
        weights=(1.5, 3.25),
        counts=(60, 36),
        looks=3,
        frame=LOADER,
        made=(LOADER,),
        negatives=(40, 64),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, (1.5, 3.25), 2)
