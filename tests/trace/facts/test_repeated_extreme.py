"""A number that comes again as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.batch_content import LoaderNote
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.repeated_extreme import RepeatedExtreme
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_column_its_number_and_the_looks():
    fact = RepeatedExtreme(
        ref=ref(2), loader=LoaderNote(number=1, frame=LOADER), path="batch[0]", column=3, value=-9999.0, low=0.5,
        high=2.0, rows=7, of=640, batches=6, looked=20, again=True, handled=False, samples=(3, 9), made=(LOADER,),
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (1, "batch[0]", 3, -9999.0, 20)
