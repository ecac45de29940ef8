"""A row of all samples as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.same_rows import SameRows
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_loader_and_its_path():
    fact = SameRows(
        ref=ref(0), dataset="Pairs", path="batch[2]", beside="batch[0]", rows=96, columns=12, frame=LOADER,
        made=(LOADER,),
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, "batch[2]")
