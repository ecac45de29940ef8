"""A crash of a window that was cut beyond the end."""

from __future__ import annotations

from debugtracer.checks.data.window_cut_short import WindowCutShort
from debugtracer.checks.model.shape_mismatch import ShapeMismatch
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import CutSeen
from tests.checks.crashes import LINE, a_crash, silent_on_another_error, told

MESSAGE = "The expanded size of the tensor (60) must match the existing size (59) at non-singleton dimension 0."
START = Frame("/p/train.py", 30, "draw", "start = random.randint(0, n - 60)")
CUT = Frame("/p/train.py", 32, "draw", "chunk = text[start:end]")


def a_cut(**more):
    return CutSeen(**{"text": "text[start:end]", "low": 940, "high": 1001, "size": 1000, "frame": CUT, **more})


def test_it_names_the_cut_and_the_line_of_the_start():
    (finding,) = told(WindowCutShort(), a_crash(MESSAGE, cut=a_cut(start=START)))
    assert (finding.severity, finding.kind, finding.exact) == ("error", "ragged_samples", True)
    assert "940 to 1001 of 1000 values and came out 1 short; 5 updates went before" in finding.message
    assert "a start of at most 939" in finding.message
    assert (finding.place.frame, finding.place.symptom_frame) == (START, LINE)


def test_a_window_longer_than_all_there_is():
    (finding,) = told(WindowCutShort(), a_crash(MESSAGE, cut=a_cut(low=0, size=50)))
    assert "a window of at most 50" in finding.message and finding.place.frame == CUT


def test_a_sequence_longer_than_a_table():
    cut = a_cut(text="self.table[:, :x.size(1)]", low=0, high=255, size=200, table=True)
    (finding,) = told(WindowCutShort(), a_crash(MESSAGE, cut=cut))
    assert "asks for the first 255 of a table of 200: a sequence is longer than the model was built for" in (
        finding.message
    )
    assert (finding.kind, finding.place.frame) == ("shape_mismatch", CUT)
    assert "longer samples" in finding.remedy[0]


def test_a_sample_longer_than_the_buffer_it_is_written_into():
    room = Frame("/p/words.py", 15, "read", "longest = max(len(w) for w in train)")
    cut = a_cut(text="row[1:1 + n]", low=1, high=20, size=12, stored=True, room=room)
    (finding,) = told(WindowCutShort(), a_crash(MESSAGE, cut=cut, sample=37))
    assert finding.message.endswith(
        "`row[1:1 + n]` (train.py:32) writes 19 values of sample 37 where there is room for 11; 5 updates went before; "
        "expected a buffer for the longest sample. Change the length that words.py:15 gave it, or cut longer samples."
    )
    assert (finding.place.frame, finding.place.symptom_frame, finding.place.sample_index) == (room, CUT, (37,))
    assert "those for evaluation" in finding.remedy[0]
    (finding,) = told(WindowCutShort(), a_crash(MESSAGE, cut=a_cut(low=0, high=9, size=4, stored=True)))
    assert "writes 9 values of a sample where there is room for 4" in finding.message
    assert "Change the length, or" in finding.message
    assert (finding.place.frame, finding.place.sample_index) == (CUT, None)


def test_the_shapes_alone_are_told_where_no_cut_explains_them():
    assert told(WindowCutShort(), a_crash(MESSAGE)) == []
    assert len(told(ShapeMismatch(), a_crash(MESSAGE))) == 1
    assert told(ShapeMismatch(), a_crash(MESSAGE, cut=a_cut())) == []


def test_another_error_is_none_of_its_business():
    silent_on_another_error(WindowCutShort())


def test_a_range_of_places_behind_the_end():
    cut = a_cut(text="x[range(i, i + 8), :]", low=415, high=423, size=420, picked=True)
    (finding,) = told(WindowCutShort(), a_crash("index 420 is out of bounds for axis 0 with size 420", cut=cut))
    assert finding.message.endswith(
        "`x[range(i, i + 8), :]` (train.py:32) takes the places 415 to 422, and the last one there is 419; expected a "
        "start of at most 412. Begin the range earlier, or stop the loop around it before."
    )
    assert (finding.kind, finding.place.frame, finding.place.symptom_frame) == ("ragged_samples", CUT, LINE)
