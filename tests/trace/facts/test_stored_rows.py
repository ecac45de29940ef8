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


def test_the_rows_of_another_step_are_known_where_passes_are_in_order():
    far = FarValue(value=-9999.0, rows=(7, 197), count=2, column=3, low=0.1, high=0.4)
    leaf = StoredLeaf(path="input", name="x", whole=False, far=(far,))
    fact = StoredRows(
        ref=ref(2), length=325, rows=16, looks=3, in_order=True, same=False, begins=32, period=21, leaves=(leaf,)
    )
    assert (fact.rows_at(2), fact.rows_at(20), fact.rows_at(21)) == (range(32, 48), range(320, 325), range(16))
    assert fact.far_at(12) == (leaf, far, (197,))
    assert fact.far_at(13) is None
    drawn = msgspec.structs.replace(fact, period=0)
    assert (drawn.rows_at(12), drawn.far_at(12)) == (range(0), None)


def test_an_oddity_of_stored_rows_is_one_of_batches_without_a_loader():
    fact = StoredOddity(ref=ref(3), loader=LoaderNote(number=-1, dataset="x"), batch=3, what="range", samples=(7,))
    assert isinstance(fact, BatchOddity)
    assert fact.ABOUT == StoredRows.ABOUT != BatchOddity.ABOUT
    assert fact_kinds()[fact.word()] is StoredOddity
