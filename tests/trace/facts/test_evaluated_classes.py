"""Classes of an evaluation as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.evaluated_classes import EvaluatedClasses
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_loader_and_its_step():
    fact = EvaluatedClasses(
        ref=ref(9), counts=(4, 6), hits=(0, 1), called=(1, 0), most=(4, 5), trained=0.75, frame=LOADER,
        made=(LOADER,),
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 9)
