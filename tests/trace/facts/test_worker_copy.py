"""What persistent workers do not see, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.worker_copy import WorkerCopy
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_the_loader():
    fact = WorkerCopy(ref=ref(1), loader=2, number=1, dataset="Pairs", names=("rows",), proven=True, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == 2
