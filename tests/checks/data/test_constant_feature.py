"""A feature that stands still from one batch on."""

from __future__ import annotations

from debugtracer.checks.data.constant_feature import ConstantFeature
from debugtracer.trace.facts.batch_content import LeafProfile
from debugtracer.trace.facts.stored_rows import StoppedColumn, StoredLeaf, StoredRows
from tests.checks.data.batches import LOADER, a_profile, a_window, an_oddity, at, judged


def still(step, **more):
    return [an_oddity("constant", step, channel=2, value=0.0, **more)]


def test_five_batches_in_a_row_are_a_warning_at_the_loader():
    (lasting,) = judged(ConstantFeature(), [still(n) for n in range(60, 66)], start=60)
    assert (lasting.severity, lasting.kind, lasting.place.frame) == (
        "warning",
        "data_constant_feature",
        LOADER.frame,
    )
    assert lasting.message == (
        "step 64, rank 0: channel 2 of batch[0] is 0 in all rows of 5 batches in a row, up to batch 64 of Corpus "
        "(train.py:50); it varied in the 60 batches "
        "before; expected a feature that varies. Find the file from which it stands still."
    )


def test_single_batches_apart_are_left_alone_as_sparse_columns_stand_still_by_chance():
    assert not judged(ConstantFeature(), [still(n) for n in (20, 25, 30, 40)])


def test_validation_batches_are_left_alone():
    assert not judged(ConstantFeature(), [still(n, training=False) for n in range(20, 28)])


def test_a_tensor_of_one_value_from_the_first_batch_on_is_a_note_where_it_is_asked_for():
    leaves = [LeafProfile(path="batch[0]", role="float", low=2.0, high=2.0)]
    leaves += [LeafProfile(path="batch[1]", role="float", low=0.0, high=1.0), LeafProfile(path="batch[2]", role="ids")]
    window = a_window(a_profile(*leaves, seen=1))
    assert not list(ConstantFeature().judge(window))
    (finding,) = ConstantFeature(from_first=True).judge(window)
    assert finding.severity == "note"
    assert "batch[0] of Corpus is 2 in every element of every batch looked at (1); expected values that vary." in (
        finding.message
    )
    assert finding.place.frame == LOADER.frame
    assert not list(ConstantFeature(from_first=True).judge(a_window(a_profile(*leaves, seen=1, training=False))))


def test_a_column_of_stored_rows_that_stands_still_to_the_end_is_told_once_with_its_row():
    stopped = StoppedColumn(column=3, row=1200, value=0.5)
    leaf = StoredLeaf(path="input", name="gauges", whole=False, stopped=(stopped,))
    fact = StoredRows(
        ref=at(1), length=1600, rows=16, looks=2, in_order=False, same=False, frame=LOADER.frame, leaves=(leaf,)
    )
    memories = {}
    (finding,) = ConstantFeature().judge(a_window(fact, memories=memories))
    assert finding.message == (
        "step 1, rank 0: column 3 of gauges is 0.5 in the last 400 of 1600 rows, from row 1200 on; it varies among the "
        "rows before; expected a feature that varies. Find the file or the time of that row."
    )
    assert (finding.severity, finding.place.frame, finding.place.sample_index) == ("warning", LOADER.frame, (1200,))
    assert not list(ConstantFeature().judge(a_window(fact, memories=memories)))
