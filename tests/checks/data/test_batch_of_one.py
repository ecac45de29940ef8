"""A batch of one under a normalisation."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.batch_of_one import BatchOfOne, source, told_shape
from debugtracer.trace.facts.crash import ModuleSeen
from tests.checks.crashes import LINE, LOADER, a_batch, a_crash, seen, silent_on_another_error, told

TEXT = "Expected more than 1 value per channel when training, got input size torch.Size([1, 32])"
NORM = ModuleSeen(path="head.1", kind="BatchNorm1d")


def test_the_loader_that_keeps_a_last_batch_of_one_is_the_line():
    batch = a_batch(1, indices=(626,), dataset_len=1601, batch_size=32)
    (finding,) = told(
        BatchOfOne(), a_crash(TEXT, "ValueError", modules=(NORM,), tensors=(seen("input", 1, 32),), batch=batch)
    )
    assert finding.message == (
        "step 5, rank 0: head.1 (BatchNorm1d) was given 1 row, shape (1, 32), in training; expected at least 2 values "
        "per channel. The loader (train.py:27) makes batches of 32 out of 1601 samples and keeps a last one of 1 "
        "(sample 626). Pass drop_last=True."
    )
    assert (finding.place.frame, finding.place.symptom_frame, finding.place.sample_index) == (LOADER, LINE, (626,))
    assert (finding.symptom, finding.exact) == ("crash", True)


def test_a_map_of_one_pixel_is_not_the_loaders_fault():
    batch = a_batch(8, batch_size=8, dataset_len=64)
    (finding,) = told(
        BatchOfOne(),
        a_crash(TEXT.replace("value per channel", "spatial element"), "ValueError", modules=(NORM,), batch=batch),
    )
    assert finding.place.frame == LINE
    assert finding.place.sample_index is None
    assert finding.message == (
        "step 5, rank 0: head.1 (BatchNorm1d) was given 1 row, shape (1, 32), in training; expected at least 2 values "
        "per channel. Give the normalisation more values per channel, or use GroupNorm."
    )


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(BatchOfOne())


@pytest.mark.parametrize(
    ("known", "lasts"),
    [
        ({"batch_size": 32, "dataset_len": 1601}, True),
        ({"batch_size": None, "dataset_len": 1601}, False),
        ({"batch_size": 32, "dataset_len": None}, False),
        ({"batch_size": 1, "dataset_len": 1601}, False),
        ({"batch_size": 2, "dataset_len": 1601}, True),
        ({"batch_size": 32, "dataset_len": 1602}, False),
        ({"batch_size": 32, "dataset_len": 1600}, False),
    ],
)
def test_a_last_batch_of_one_is_what_is_left_of_a_data_set(known, lasts):
    assert ("Pass drop_last=True" in source(a_batch(1, **known))) is lasts


def test_what_was_given_is_named_as_far_as_it_is_known():
    (finding,) = told(BatchOfOne(), a_crash(TEXT, "ValueError"))
    assert "a normalisation was given 1 row, shape (1, 32), in training" in finding.message
    assert (finding.place.module, finding.place.frame, finding.place.batch_rows) == (None, LINE, None)
    assert source(None) == source(a_batch(2)) == source(a_batch(None))
    assert "(sample 9). Make batches of at least 2." in source(a_batch(1, indices=(9,)))
    assert "made a batch of 1. Make" in source(a_batch(1))
    rootless = ModuleSeen(path="", kind="BatchNorm1d")
    (finding,) = told(BatchOfOne(), a_crash(TEXT, "ValueError", modules=(rootless,), tensors=(seen("weight", 1, 32),)))
    assert "(root) (BatchNorm1d) was given 1 row, shape (1, 32)," in finding.message


def test_the_shape_is_that_of_the_input_else_that_of_the_exception_else_none():
    assert told_shape(TEXT) == (1, 32)
    one_pixel = "Expected more than 1 spatial element when training, got input size torch.Size([4, 8, 1])"
    assert told_shape(one_pixel) == (4, 8, 1)
    assert told_shape("Expected more than 1 value per channel when training") == ()
    (finding,) = told(BatchOfOne(), a_crash("Expected more than 1 value per channel when training", "ValueError"))
    assert "a normalisation was given one value per channel in training; expected" in finding.message
