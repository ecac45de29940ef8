"""What is said of a batch that was put together in two orders."""

from __future__ import annotations

from debugtracer.checks.data.rows_reordered import RowsReordered
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_collated_rows import collated


def found(**more: object) -> list[Finding]:
    fact = collated(**more)
    return list(RowsReordered().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1})))


def test_says_which_rows_are_of_two_samples():
    (finding,) = found()
    assert (
        "in 45 of 48 rows batch[1] (sorted at data.py:70) and batch[0] are of different samples: 712 and 31, 9 and"
        in (finding.message)
    )
    assert (finding.severity, finding.kind) == ("warning", "targets_misaligned")
    assert finding.place.frame == collated().frame


def test_the_loader_is_named_where_the_line_is_not_known():
    loader = Frame("/x/train.py", 60, "<module>", "")
    (finding,) = found(frame=None, loader_frame=loader)
    assert "batch[1] and batch[0]" in finding.message
    assert finding.place.frame == loader


def test_stays_silent_without_a_fact():
    assert not list(RowsReordered().judge(Window(collated().ref)))
