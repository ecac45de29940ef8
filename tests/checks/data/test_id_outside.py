"""The record whose number has no place in a table."""

from __future__ import annotations

import msgspec

from debugtracer.checks.data.id_outside import MEND, ROOM, IdOutside
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.gapped_ids import GappedIds
from debugtracer.trace.facts.outside_record import OutsideRecord
from tests.checks.crashes import LINE, REF, silent_on_another_error, told

RECORD, MADE = Frame("/p/train.txt", 63), Frame("/p/data.py", 20)
FACT = OutsideRecord(
    ref=REF,
    number=5,
    size=5,
    path="[2]",
    samples=(62,),
    value=4,
    low=0,
    high=3,
    beside=112,
    name="000062.jpg",
    record=RECORD,
    made=MADE,
    symptom=LINE,
)


def test_the_record_and_what_others_hold():
    (finding,) = told(IdOutside(), FACT)
    assert finding.message == (
        "step 5, rank 0: index 5 (train.py:34) was refused by what has 5 entries: sample 62 (000062.jpg, train.txt:63) "
        "holds 4 in its part [2], to which the program adds 1, and 112 others hold 0..3 there; expected 0..3. Mend the "
        "record, or leave it out where the records are listed."
    )
    assert (finding.severity, finding.kind, finding.exact) == ("error", "label_out_of_range", True)
    assert (finding.place.frame, finding.place.symptom_frame) == (RECORD, LINE)
    assert (finding.place.sample_index, finding.remedy[0]) == ((62,), MEND)


def test_without_a_file_the_line_that_makes_the_number():
    (finding,) = told(IdOutside(), msgspec.structs.replace(FACT, record=None, name="", number=4, size=4))
    assert "sample 62 holds 4 in its part [2], and 112 others" in finding.message
    assert finding.place.frame == MADE


def test_a_class_of_which_there_are_more_to_come():
    (finding,) = told(IdOutside(), msgspec.structs.replace(FACT, samples=(62, 71), ahead=90, alike=12))
    assert "samples 62, 71 (000062.jpg, train.txt:63) hold numbers without a place in its part [2], 4 among" in (
        finding.message
    )
    assert "; so do 12 of 90 that no batch has had yet; expected 0..3. Give the table" in finding.message
    assert (finding.place.frame, finding.remedy[0]) == (MADE, ROOM)


def test_what_the_checks_of_losses_and_embeddings_name_is_left_to_them():
    assert told(IdOutside(), msgspec.structs.replace(FACT, lookup=False, record=None)) == []
    assert told(IdOutside(), msgspec.structs.replace(FACT, lookup=False)) != []
    gaps = GappedIds(ref=REF, number=5, size=5, entry="'oak'", name="ids", entries=5, low=0, high=9)
    assert told(IdOutside(), gaps, FACT) == []


def test_a_crash_of_another_kind():
    silent_on_another_error(IdOutside())
