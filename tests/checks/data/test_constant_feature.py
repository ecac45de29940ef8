"""A feature that stands still from one batch on."""

from __future__ import annotations

from debugtracer.checks.data.constant_feature import ConstantFeature
from tests.checks.data.batches import LOADER, an_oddity, judged


def still(step, **more):
    return [an_oddity("constant", step, channel=2, value=0.0, **more)]


def test_one_batch_is_a_note_and_five_in_a_row_a_warning_at_the_loader():
    first, lasting = judged(ConstantFeature(), [still(n) for n in range(60, 66)], start=60)
    assert (first.severity, lasting.severity, lasting.kind, lasting.place.frame) == (
        "note",
        "warning",
        "data_constant_feature",
        LOADER.frame,
    )
    assert lasting.message == (
        "step 64, rank 0: channel 2 of batch[0] is 0 in all rows of 5 batches in a row, up to batch 64 of Corpus "
        "(train.py:50); it varied in the 60 batches "
        "before; expected a feature that varies. Find the file from which it stands still."
    )


def test_single_batches_apart_stay_notes():
    assert {f.severity for f in judged(ConstantFeature(), [still(n) for n in (20, 25, 30, 40)])} == {"note"}


def test_validation_batches_are_left_alone():
    assert not judged(ConstantFeature(), [still(n, training=False) for n in range(20, 28)])
