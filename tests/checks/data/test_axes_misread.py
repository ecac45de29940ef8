"""What is said of inputs that are smooth in another order."""

from __future__ import annotations

from debugtracer.checks.data.axes_misread import AxesMisread
from tests.checks.facts_at import judged, line
from tests.trace.facts.test_misread_axes import misread


def test_the_order_in_which_it_was_written_is_told_with_the_line():
    (finding,) = judged(AxesMisread(), [misread(frame=line(14))])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "axes_mixed", line(14))
    assert finding.message == (
        "step 1, rank 0: neighbours in the input of Net, (64, 3, 32, 32), correlate by 0.2, and by 0.94 if each row is "
        "read as (32, 32, 3) and not as (3, 32, 32), reshaped at train.py:14; expected sizes in the order in which the "
        "values were written. Reshape to (n, 32, 32, 3), then permute."
    )


def test_without_that_line_those_that_made_it_or_the_call_are_shown():
    (finding,) = judged(AxesMisread(), [misread(made=(line(9), line(12)))])
    assert "made at train.py:9 -> train.py:12" in finding.message and finding.place.frame == line(12)
    (finding,) = judged(AxesMisread(), [misread()])
    assert finding.place.frame == line(40)


def test_silent_without_a_fact():
    assert judged(AxesMisread(), []) == []
