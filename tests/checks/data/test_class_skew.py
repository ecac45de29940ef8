"""Labels that come in blocks."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.data.class_skew import ClassSkew
from debugtracer.trace.facts.batch_content import LeafProfile
from debugtracer.trace.facts.stored_rows import StoredLeaf, StoredRows
from tests.checks.data.batches import LOADER, a_profile, a_window, at

BLOCKS = LeafProfile(path="batch[1]", role="label", entropy=0.01, pooled_entropy=1.54, classes=5, skewed_run=32)


def test_one_class_after_the_other_is_loud_at_the_loader():
    (finding,) = ClassSkew().judge(a_window(a_profile(BLOCKS)))
    assert finding.message == (
        "step 99, rank 0: batches of Corpus hold about one class of batch[1] (entropy 0.01 of 1.54 nats over all, 32 "
        "batches in a row); expected a mixture. "
        "Shuffle: DataLoader(..., shuffle=True)."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "data_class_skew", LOADER.frame)


@pytest.mark.parametrize(
    "profile",
    [
        a_profile(BLOCKS, training=False),
        a_profile(BLOCKS, loader=msgspec.structs.replace(LOADER, sampler="EpisodeSampler")),
        a_profile(msgspec.structs.replace(BLOCKS, skewed_run=9)),
    ],
    ids=["validation is sorted", "a sampler chooses classes", "a short block"],
)
def test_what_is_meant_so_is_silent(profile):
    assert not list(ClassSkew().judge(a_window(profile)))


def test_ten_batches_in_a_row_are_enough_and_a_pool_of_one_class_is_no_skew():
    def told(**change):
        return len(list(ClassSkew().judge(a_window(a_profile(msgspec.structs.replace(BLOCKS, **change))))))

    assert (told(skewed_run=10), told(skewed_run=9)) == (1, 0)
    assert (told(pooled_entropy=0.0), told(pooled_entropy=None)) == (0, 0)
    assert told(entropy=None) == 1


def of_rows(**change):
    leaf = StoredLeaf(path="target", name="labels", whole=True, classes=5, pooled=1.6, entropy=0.0, skewed=0.98)
    known = {"length": 1000, "rows": 20, "looks": 2, "in_order": True, "same": False, "frame": LOADER.frame}
    leaf = msgspec.structs.replace(leaf, **{k: v for k, v in change.items() if k not in known})
    return StoredRows(ref=at(1), leaves=(leaf,), **{**known, **{k: v for k, v in change.items() if k in known}})


def test_rows_that_the_program_takes_class_by_class_are_loud_where_it_takes_them():
    (finding,) = ClassSkew().judge(a_window(of_rows(), step=60))
    assert finding.message == (
        "step 1, rank 0: the 1000 rows of labels lie class by class (5 classes), and each batch takes 20 that lie one "
        "after the other: 98% of the 50 batches hold about one class (entropy 0.00 of 1.60 nats over all); expected a "
        "mixture. Put the rows into a random order once, before the first batch."
    )
    assert (finding.severity, finding.place.frame) == ("warning", LOADER.frame)


def test_batches_at_the_end_of_a_class_hold_two():
    assert list(ClassSkew().judge(a_window(of_rows(skewed=0.8, length=400), step=100)))


@pytest.mark.parametrize(
    "change", [{"in_order": False}, {"same": True}, {"skewed": 0.8}, {"length": 180}, {"skewed": 0.0, "classes": 0}]
)
def test_rows_that_are_drawn_or_mixed_are_silent(change):
    assert not list(ClassSkew().judge(a_window(of_rows(**change), step=500, ended=True)))


def test_it_is_said_once_of_an_array():
    memories = {}
    steps = ((2, 1), (3, 2), (4, 100), (5, 200))
    said = [len(list(ClassSkew().judge(a_window(of_rows(looks=n), step=step, memories=memories)))) for n, step in steps]
    assert said == [0, 0, 1, 0]


def test_a_stream_that_is_read_once_is_a_note_at_its_end():
    memories = {}
    assert not list(ClassSkew().judge(a_window(of_rows(), step=59, memories=memories)))
    (finding,) = ClassSkew().judge(a_window(step=59, memories=memories, ended=True))
    assert (finding.severity, finding.message.endswith("Nothing if it is a stream that is read once.")) == (
        "note",
        True,
    )


def test_rows_that_are_drawn_later_are_silent():
    memories = {}
    assert not list(ClassSkew().judge(a_window(of_rows(), step=2, memories=memories)))
    assert not list(ClassSkew().judge(a_window(of_rows(in_order=False), step=100, memories=memories)))
    assert not list(ClassSkew().judge(a_window(step=400, memories=memories, ended=True)))
