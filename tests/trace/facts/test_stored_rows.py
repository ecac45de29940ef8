"""Rows of stored data, as a fact."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.batch_content import BatchOddity, LoaderNote
from debugtracer.trace.facts.fact import fact_kinds, from_plain, to_plain
from debugtracer.trace.facts.stored_rows import FarValue, StoppedColumn, StoredLeaf, StoredOddity, StoredRows
from tests.checks.windows import LOADER, ref


def test_they_survive_json_and_are_told_by_the_names_of_their_arrays():
    far = FarValue(value=-9999.0, rows=(7,), count=1, column=3, low=0.1, high=0.4)
    leaf = StoredLeaf(
        path="input", name="x", whole=False, far=(far,), stopped=(StoppedColumn(column=1, row=9, value=0.0),)
    )
    fact = StoredRows(ref=ref(2), length=645, rows=16, looks=2, in_order=True, same=False, frame=LOADER, leaves=(leaf,))
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert (fact.key(), fact.parts()) == ((("input", "x"),), 40)


def test_an_oddity_of_stored_rows_is_one_of_batches_without_a_loader():
    fact = StoredOddity(ref=ref(3), loader=LoaderNote(number=-1, dataset="x"), batch=3, what="range", samples=(7,))
    assert isinstance(fact, BatchOddity)
    assert fact.ABOUT == StoredRows.ABOUT != BatchOddity.ABOUT
    assert fact_kinds()[fact.word()] is StoredOddity
