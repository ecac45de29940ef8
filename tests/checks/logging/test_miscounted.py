"""Does a metric say what its loop has counted?"""

from __future__ import annotations

from debugtracer.checks.logging.miscounted import Miscounted
from debugtracer.trace.facts.pass_count import PassCount
from tests.checks.facts_at import judged, line, ref


def count(kind, use, **given):
    return PassCount(ref=ref(38), kind=kind, name="right", use=use, frame=line(9), used=line(11), **given)


def test_a_count_that_goes_on_is_told_at_the_line_that_sets_it():
    given = count("kept", "right / len(held)", value=5.917, passes=1, steps=38, begun=line(3))
    (finding,) = judged(Miscounted(), [given, given])
    assert finding.message == (
        "step 38, rank 0: right (train.py:9) begins pass 2 of its loop with 5.917, which pass 1 has left: it is set "
        "before all epochs (train.py:3), and `right / len(held)` (train.py:11) takes it for one pass; expected 0. Set "
        "it to 0 before each pass."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(3), line(9))


def test_a_mean_over_all_passes_is_called_one():
    (finding,) = judged(Miscounted(), [count("kept", "right / seen", value=3.0, passes=1, begun=line(3), mean=True)])
    assert "`right / seen` (train.py:11) is a mean over all passes; expected 0" in finding.message


def test_a_list_that_grows_is_told_at_the_line_that_makes_it():
    given = count("listed", "sum(right) / len(held)", value=12.0, passes=1, begun=line(3))
    (finding,) = judged(Miscounted(), [given])
    assert finding.message.endswith(
        "right (train.py:9) begins pass 2 of its loop with 12 values, which pass 1 has left: it is made before all "
        "epochs (train.py:3), and `sum(right) / len(held)` (train.py:11) takes them for one pass; expected an empty "
        "list. Make it anew before each pass."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (line(3), line(9))


def test_an_object_that_is_never_reset_is_told_at_the_loop():
    (finding,) = judged(Miscounted(), [count("meter", "meter.avg", value=100.0, passes=1, begun=line(7))])
    assert finding.message.endswith(
        "right (train.py:9) begins pass 2 of its loop with what pass 1 has left (a number of it is 100), and "
        "`meter.avg` (train.py:11) is a mean over all passes; expected an empty one. Call right.reset() before the "
        "loop (train.py:7)."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (line(7), line(9))


def test_another_divisor_than_the_rows_is_told_where_it_divides():
    (finding,) = judged(Miscounted(), [count("shared", "right / len(train)", value=1200.0, rows=310, batches=5)])
    assert finding.message.endswith(
        "`right / len(train)` (train.py:11) divides what is counted in 310 rows (train.py:9) by 1200; expected 310. "
        "Divide by the rows that the loop has seen."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (line(11), line(9))


def test_a_count_of_the_last_batch_is_told_where_it_is_written():
    (finding,) = judged(Miscounted(), [count("last", "right / 310", rows=310, batches=5)])
    assert finding.message.endswith(
        "right (train.py:9) is written anew by each of 5 batches, and `right / 310` (train.py:11) reads what the last "
        "one has left; expected a sum over all 310 rows. Begin it at 0 and add with +=."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (line(9), line(11))
