"""Ids in arrays that cannot name each row of their table."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.ids_wrapped import IdsWrapped
from debugtracer.trace.facts.narrow_ids import NarrowIds
from tests.checks.facts_at import judged, line, ref


def stored(**fields: object) -> NarrowIds:
    given = {
        "table": "packets", "size": 450, "dtype": "uint8", "limit": 255, "source": "OrderBook.orders", "ids": 18000,
        "largest": 255, "top": 1.0, "below": 1.0, "frame": line(41), "made": (line(23),), **fields,
    }  # fmt: skip
    return NarrowIds(ref=ref(4), **given)


def test_a_table_that_its_ids_cannot_fill_is_told_at_the_line_that_stores_them():
    (finding,) = judged(IdsWrapped(), [stored()])
    assert finding.message == (
        "step 4, rank 0: the ids of packets (450 rows) (train.py:41) are read from OrderBook.orders, which is uint8 "
        "and holds no number above 255, made at train.py:23: rows 256 to 449 can never be named, though ids go up to "
        "255 (100% of the highest 16 occur); expected a type that holds 449. Ids above 255 were stored as others: use "
        "int16 or uint16 and store them anew."
    )
    assert (finding.severity, finding.kind) == ("warning", "ids_wrapped")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(23), line(41))


def test_classes_of_a_loss():
    (finding,) = judged(IdsWrapped(), [stored(table="", size=365, made=())])
    assert finding.message.startswith("step 4, rank 0: the ids of the loss (365 classes) (train.py:41) are read from")
    assert finding.place.frame == line(41)


def test_a_vocabulary_of_today_in_two_bytes():
    wide = {"dtype": "uint16", "limit": 65535, "source": "train.bin", "size": 128256, "largest": 65530}
    (finding,) = judged(IdsWrapped(), [stored(**wide, top=0.05, below=0.2)])
    assert (finding.severity, "use int32 or uint32" in finding.message) == ("warning", True)


def test_a_table_that_may_be_rounded_up_and_a_head_of_other_classes_are_notes():
    assert [f.severity for f in judged(IdsWrapped(), [stored(table="", size=1000)])] == ["note"]
    assert [f.severity for f in judged(IdsWrapped(), [stored(size=1000)])] == ["warning"]
    assert [f.severity for f in judged(IdsWrapped(), [stored(size=50304)])] == ["note"]


@pytest.mark.parametrize(
    "fields",
    [
        {"size": 319},
        {"size": 50304, "top": 5 / 16, "below": 0.86},
        {"largest": 250},
        {"top": 0.4},
        {"dtype": "uint16", "limit": 65535, "size": 128256, "largest": 50256, "top": 0.0},
        {"dtype": "uint16", "limit": 65535, "size": 65536, "largest": 65535},
    ],
    ids=["special tokens", "UTF-8", "fewer classes", "thin at the end", "another vocabulary", "as large as the type"],
)
def test_what_fits_is_silent(fields):
    assert judged(IdsWrapped(), [stored(**fields)]) == []


def test_two_tables_of_one_array_are_told_once():
    assert len(judged(IdsWrapped(), [stored(), stored(table="other")])) == 1
