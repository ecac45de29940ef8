"""The expression and the values that a program died of, as a finding."""

from __future__ import annotations

import msgspec

from debugtracer.checks.numerics.crash_text import CrashText
from debugtracer.checks.numerics.crash_values import CrashValues
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import FormSeen, KnownWords
from debugtracer.trace.facts.raised_expression import ConditionSeen, ElementSeen, RaisedExpression
from debugtracer.trace.step import StepRef
from tests.checks.crashes import REF, a_crash

LINE = Frame("/a/train.py", 14, "__getitem__", "return float(value)")
TEXT = RaisedExpression(
    ref=REF,
    error="ValueError",
    message="could not convert string to float: 'n/a'",
    text="float(value)",
    frame=LINE,
    values=(("value", "'n/a'"),),
    suspect="value",
    made=Frame("/a/train.py", 13),
    sample=61,
)
WORKER = KnownWords(kind="", certainty=0.9, because="worker 1 raised ValueError", layer="data")


def said(*facts):
    judge = Judge({"numerics/crash-text": CrashText(), "numerics/crash-values": CrashValues()})
    return list(judge.end(StepRef(iteration=5, step=5), facts))


def changed(**fields):
    return msgspec.structs.replace(TEXT, **fields)


def test_the_expression_the_sample_and_the_value():
    (finding,) = said(TEXT)
    assert finding.message == (
        "step 5, rank 0: `float(value)` (train.py:14) raised ValueError: could not convert string to float: 'n/a', at "
        "sample 61; value is 'n/a', from train.py:13; expected a line that takes every value it is given. Mend sample "
        "61, leave it out where the data are listed, or let the line take it."
    )
    assert (finding.check, finding.layer, finding.kind) == ("numerics/crash-values", "data", "record_unreadable")
    assert (finding.severity, finding.confidence, finding.exact) == ("error", 0.8, False)
    assert (finding.place.frame, finding.place.sample_index) == (LINE, (61,))


def test_where_the_record_first_differs_from_others_is_the_line_to_edit():
    form = FormSeen(
        index=61, frame=Frame("/a/train.py", 12), name="image", seen="mode RGBA", usual="mode RGB", beside=6
    )
    (finding,) = said(TEXT, a_crash("x", form=form))
    assert "`image` of it has mode RGBA from train.py:12 on, and mode RGB in each of 6 other samples" in finding.message
    assert (finding.place.frame, finding.place.symptom_frame) == (form.frame, LINE)
    unnamed = msgspec.structs.replace(form, name="")  # what raised hands on nothing: that is no difference
    (finding,) = said(TEXT, a_crash("x", form=unnamed))
    assert finding.place.frame == LINE


def test_an_element_of_a_list_without_a_loader():
    (finding,) = said(changed(sample=None, element=ElementSeen("lines", 37, 48)))
    assert ", at element 37 of lines;" in finding.message
    assert finding.message.endswith(
        "Mend element 37 of lines, leave it out where the data are listed, or let the line take it."
    )
    assert finding.place.sample_index == (37,)


def test_without_a_record_no_class_is_named():
    (finding,) = said(changed(sample=None))
    assert (finding.kind, finding.layer, finding.place.sample_index) == (None, "numerics", None)
    assert finding.message.endswith("Look at value where it is written (train.py:13).")
    (finding,) = said(changed(sample=None, suspect="", made=None))
    assert finding.message.endswith("Look at these values, or at the call around them.")


def test_what_is_none_is_asked_after():
    (finding,) = said(changed(values=(("value", "None"),)))
    assert finding.message.endswith("Find out why value is None where it is written (train.py:13).")


def test_what_the_program_raises_itself_is_told_with_its_sample_only():
    assert said(changed(deliberate=True, sample=None)) == []
    assert len(said(changed(deliberate=True))) == 1


def test_words_of_a_class_come_first_and_words_without_one_give_way_to_a_known_sample():
    known = msgspec.structs.replace(WORKER, kind="ragged_samples")
    assert [f.check for f in said(TEXT, a_crash("x", words=known))] == ["numerics/crash-text"]
    assert [f.check for f in said(TEXT, a_crash("x", words=WORKER))] == ["numerics/crash-values"]
    assert [f.check for f in said(changed(sample=None), a_crash("x", words=WORKER))] == ["numerics/crash-text"]


def test_a_number_that_the_program_sets_is_told_with_its_line():
    line = Frame("/a/options.py", 12, "parse", "p.add_argument('--shift', default=0)")
    (finding,) = said(changed(suspect="value", values=(("value", "0"),), sample=None, made=None, setting=line))
    assert finding.message.endswith(
        "; value is 0, set at options.py:12 (`p.add_argument('--shift', default=0)`); expected a number that this line "
        "can take. Change value at options.py:12, or do without train.py:14 where it is 0."
    )
    assert (finding.kind, finding.layer) == ("value_unfit", "numerics")
    assert (finding.place.frame, finding.place.symptom_frame) == (line, LINE)


def test_what_is_none_under_one_condition_and_used_under_another():
    built = ConditionSeen(Frame("/a/net.py", 5), "wide")
    used = ConditionSeen(Frame("/a/net.py", 9), "x.big")
    none = changed(suspect="self.short", values=(("self.short", "None"),), sample=None, set_where=built)
    (finding,) = said(msgspec.structs.replace(none, used_where=used))
    assert (
        "self.short is None, from train.py:13, set only where `wide` (net.py:5) and used where `x.big` (net.py:9); "
        "expected it to be used only where it is set. Let both ask the same: `self.short is not None` at net.py:9."
    ) in finding.message
    assert (finding.kind, finding.place.frame) == ("value_unfit", used.frame)
    (finding,) = said(none)
    assert "and used in any case" in finding.message
    assert "Ask `self.short is not None` at train.py:14" in finding.message
    assert finding.place.frame == LINE


def test_a_condition_that_reads_a_record_leaves_the_record_at_fault():
    (finding,) = said(changed(set_where=ConditionSeen(LINE, "'x' in row")))
    assert (finding.kind, finding.place.frame) == ("record_unreadable", LINE)


def test_the_line_of_the_data_file():
    (finding,) = said(changed(record=Frame("/a/visits.csv", 1422, "", "u51,n/a,0")))
    assert ", at sample 61 (visits.csv:1422: `u51,n/a,0`);" in finding.message
    assert "Mend sample 61 (visits.csv:1422), leave" in finding.message


def test_the_files_that_the_line_held_are_told_with_the_sample():
    (found,) = said(changed(files=("data/a.h5", "data/a.jpg")))
    assert "at sample 61 (data/a.h5 and data/a.jpg); value is" in found.message
    assert "Mend sample 61 (data/a.h5 and data/a.jpg), leave it out" in found.message


def test_a_line_of_a_text_file_is_the_record_and_the_line_to_edit():
    line = Frame("/data/labels.train", 1742, "", "-")
    (found,) = said(changed(sample=None, record=line))
    assert "at labels.train:1742: `-`; value is" in found.message
    assert "Mend labels.train:1742, leave it out" in found.message
    assert (found.kind, found.layer, found.place.frame) == ("record_unreadable", "data", line)
    assert (found.place.symptom_frame, found.place.sample_index) == (LINE, None)
