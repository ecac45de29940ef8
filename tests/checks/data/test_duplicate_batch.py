"""Batches that come again within an epoch."""

from __future__ import annotations

import msgspec

from debugtracer.checks.data.duplicate_batch import DuplicateBatch
from tests.checks.data.batches import LOADER, an_oddity, judged

STREAM = msgspec.structs.replace(LOADER, stream=True, num_workers=2)


def again(step, gap=1, detail="unknown", loader=STREAM, **more):
    return [an_oddity("duplicate", step, value=step - gap, count=gap, detail=detail, loader=loader, **more)]


def test_a_stream_that_every_worker_reads_is_loud_at_the_third_batch():
    note, warning = judged(DuplicateBatch(), [again(n) for n in (1, 3, 5, 7)])
    assert (note.severity, warning.severity, warning.kind, warning.place.frame) == (
        "note",
        "warning",
        "data_duplicate_batch",
        LOADER.frame,
    )
    assert warning.message == (
        "step 5, rank 0: batch 5 of Corpus (train.py:50) holds the same values as batch 4, number 3 that comes again; "
        "2 workers read the stream; "
        "expected new samples. Share the stream out by get_worker_info()."
    )


def test_equal_samples_in_a_row_under_other_indices_are_loud():
    assert [
        f.severity for f in judged(DuplicateBatch(), [again(n, detail="other", loader=LOADER) for n in (1, 2, 3)])
    ] == ["note", "warning"]


def test_a_sampler_that_draws_with_replacement_is_silent():
    assert not judged(DuplicateBatch(), [again(n, detail="same", loader=LOADER) for n in range(1, 9)])


def test_copies_of_a_dataset_come_again_much_later_and_are_a_note():
    assert {
        f.severity
        for f in judged(DuplicateBatch(), [again(n, gap=40, detail="other", loader=LOADER) for n in range(41, 60)])
    } == {"note"}


def test_a_periodic_stream_without_workers_is_a_note():
    alone = msgspec.structs.replace(STREAM, num_workers=0)
    assert {f.severity for f in judged(DuplicateBatch(), [again(n, loader=alone) for n in range(1, 9)])} == {"note"}


def test_validation_is_a_note():
    assert {f.severity for f in judged(DuplicateBatch(), [again(n, training=False) for n in range(1, 9)])} == {"note"}


def words(loader, gap=1, detail="unknown", steps=3):
    return [
        (f.severity, f.message) for f in judged(DuplicateBatch(), [again(n, gap, detail, loader) for n in range(steps)])
    ]


def test_workers_are_named_where_several_read_one_stream():
    for loader, shares in (
        (STREAM, True),
        (msgspec.structs.replace(STREAM, num_workers=1), False),
        (msgspec.structs.replace(STREAM, stream=False), False),  # an ordinary data set is shared out by its sampler
    ):
        told = words(loader, detail="other")
        assert [f"{loader.num_workers} workers read the stream" in text for _, text in told] == [shares] * len(told)
        assert [text.endswith("by get_worker_info().") for _, text in told] == [shares] * len(told)


def test_batches_as_far_apart_as_there_are_other_workers_are_near():
    four = msgspec.structs.replace(STREAM, num_workers=4)
    assert [severity for severity, _ in words(four, gap=3)] == ["note", "warning"]
    assert [severity for severity, _ in words(four, gap=4)] == ["note", "note"]
    one = msgspec.structs.replace(STREAM, num_workers=1)
    assert [severity for severity, _ in words(one)] == ["note", "note"]
    assert [severity for severity, _ in words(LOADER, detail="unknown")] == ["note", "note"]


def test_the_first_and_the_third_are_told_and_no_other():
    assert [len(words(STREAM, steps=steps)) for steps in (1, 2, 3, 9)] == [1, 1, 2, 2]
    others = [[an_oddity("range", n, value=1.0, usual=1.0)] for n in range(4)]
    assert judged(DuplicateBatch(), others) == []
