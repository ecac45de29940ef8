"""A vocabulary whose ids run past its length."""

from __future__ import annotations

import msgspec

from debugtracer.checks.data.ids_gapped import IdsGapped
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.gapped_ids import GappedIds
from tests.checks.crashes import LINE, REF, silent_on_another_error, told

FILLED, COUNTED = Frame("/p/reader.py", 45), Frame("/p/reader.py", 42)
FACT = GappedIds(
    ref=REF,
    number=345,
    size=345,
    entry="'oak'",
    name="Reader.ids",
    entries=345,
    low=0,
    high=2012,
    filled=FILLED,
    counted=COUNTED,
    symptom=LINE,
)


def test_ids_that_are_counted_where_no_entry_is_made():
    (finding,) = told(IdsGapped(), FACT)
    assert finding.message == (
        "step 5, rank 0: index 345 (train.py:34) was refused by what has 345 entries: it is the id of 'oak' in "
        "Reader.ids, whose 345 entries have ids 0..2012 (filled at reader.py:45, counted at reader.py:42 also where no "
        "entry is made); expected ids 0..344. Count an id up only where an entry is made, or size the tables by the "
        "largest id + 1."
    )
    assert (finding.severity, finding.kind, finding.exact) == ("error", "token_out_of_range", True)
    assert (finding.place.frame, finding.place.symptom_frame, finding.place.sample_index) == (COUNTED, LINE, None)


def test_the_line_that_fills_it_where_no_loop_counts():
    (finding,) = told(IdsGapped(), msgspec.structs.replace(FACT, counted=None))
    assert finding.place.frame == FILLED
    (finding,) = told(IdsGapped(), msgspec.structs.replace(FACT, counted=None, filled=None))
    assert finding.place.frame == LINE


def test_ids_that_begin_at_1():
    (finding,) = told(IdsGapped(), msgspec.structs.replace(FACT, low=1, high=345))
    assert finding.message.endswith("Number the entries from 0, or give the tables one row more.")
    (finding,) = told(IdsGapped(), msgspec.structs.replace(FACT, low=1, high=345, of_loss=True))
    assert finding.kind == "label_out_of_range"


def test_a_crash_of_another_kind():
    silent_on_another_error(IdsGapped())


def test_a_table_that_is_asked_for_its_padding_wants_a_row_more():
    sized = Frame("/p/vocabulary.py", 17)
    begun = msgspec.structs.replace(FACT, number=61, size=61, entries=60, low=2, high=61, counted=None)
    (finding,) = told(IdsGapped(), msgspec.structs.replace(begun, below=0, sized=sized))
    assert finding.message.endswith(
        "have ids 2..61 (filled at reader.py:45); expected 62 rows. Give the table 62 rows (vocabulary.py:17): 0 is in "
        "use beside the entries."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (sized, LINE)
    for one in (msgspec.structs.replace(begun, below=0), msgspec.structs.replace(begun, sized=sized)):
        (finding,) = told(IdsGapped(), one)
        assert finding.message.endswith("Number the entries from 0, or give the tables one row more.")
        assert finding.place.frame == FILLED
