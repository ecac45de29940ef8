"""Target networks that are never written."""

from __future__ import annotations

from debugtracer.checks.optimizer.copy_stale import CopyStale
from debugtracer.trace.facts.stale_copy import StaleCopy
from tests.checks.facts_at import judged, line, ref


def fact(never="", updates=2):
    return StaleCopy(
        ref=ref(2), module="QNetwork", updates=updates, apart=0.021, frame=line(71), called=line(58), never=never
    )


def test_a_condition_that_never_holds_is_told_with_the_line_that_would_copy():
    (finding,) = judged(
        CopyStale(), [fact("`(step + 1) % 500 == 0` never holds for a counter that goes up by 4 from 0")]
    )
    assert (finding.severity, finding.kind, finding.confidence) == ("warning", "average_not_updated", 0.95)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(71), line(58))
    assert finding.message == (
        "step 2, rank 0: QNetwork (train.py:58) is called without a graph and has not moved in 2 updates, after which "
        "the trained model is 0.021 of its norm away; `(step + 1) % 500 == 0` never holds for a counter that goes up "
        "by 4 from 0 (train.py:71), so it is never copied; expected a copy that follows. Ask for a multiple that the "
        "counter meets."
    )


def test_many_updates_without_one_are_less_sure():
    (finding,) = judged(CopyStale(), [fact(updates=3000)])
    assert finding.confidence == 0.75 and "train.py:71, which would copy, was not reached" in finding.message


def test_nothing_seen_is_nothing_said():
    assert judged(CopyStale(), []) == []
