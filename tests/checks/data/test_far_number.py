"""One number that makes the loss of its batch a thousand times the usual."""

from __future__ import annotations

from debugtracer.checks.data.far_number import FarNumber
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.far_number import FarNumber as Seen
from tests.checks.optimizer.seen import at, line

RECORD = Frame("/data/ratings.txt", 5003, "", "75 101 1086393600")


def seen(step, record=None, made=None, place=(23,)):
    return Seen(
        ref=at(step), loss=5e14, usual=8.5, name="inputs", row=17, place=place, value=1086393600.0, low=0.0,
        high=5.0, record=record, made=made, backward=line(40),
    )  # fmt: skip


def told(losses, *facts):
    check = FarNumber()
    judge, got = Judge({check.slug: check}), []
    for step, loss in enumerate(losses):
        got += judge.judge(at(step), {"loss": loss}, [fact for fact in facts if fact.ref.step == step])
    return got


def test_the_number_its_row_and_its_line_are_told_once():
    losses = [10.0, 9.0, 8.0, 7.0, 5e14, 6.0, 5.0, 5e14, 4.0, 3.0]
    (finding,) = told(losses, seen(4, record=RECORD), seen(7, record=RECORD))
    assert (finding.severity, finding.kind, finding.step) == ("warning", "data_range_extreme", 4)
    assert finding.message == (
        "step 4, rank 0: the loss is 5e+14 (usual 8.5) in a step whose `inputs` holds 1086393600 in row 17, element 23 "
        "(ratings.txt:5003: `75 101 1086393600`), where the other rows have 0 to 5, and it is back in the next step; "
        "expected values like the others. Mend that record, or refuse such a value where the file is read."
    )
    assert finding.place.frame == RECORD
    assert finding.place.symptom_frame == line(40)
    assert finding.place.batch_rows == (17,)


def test_without_a_file_the_line_that_made_the_tensor_else_the_backward():
    losses = [10.0, 9.0, 8.0, 7.0, 5e14, 6.0]
    (finding,) = told(losses, seen(4, made=line(30), place=()))
    assert finding.place.frame == line(30)
    assert "holds 1086393600 in row 17, where" in finding.message
    (finding,) = told(losses, seen(4))
    assert finding.place.frame == line(40)


def test_what_stays_up_and_what_has_no_such_number_are_silent():
    assert told([10.0, 9.0, 8.0, 7.0, 5e14, 5e14, 5e14], seen(4), seen(5)) == []
    assert told([10.0, 9.0, 8.0, 7.0, 5e14, 6.0]) == []


def test_at_the_limit():
    assert len(told([8.0, 9.0, 8.0, 9.0, 5e14, 85.0], seen(4))) == 1
    assert told([8.0, 9.0, 8.0, 9.0, 5e14, 86.0], seen(4)) == []
