"""Target networks that are never written."""

from __future__ import annotations

from debugtracer.checks.optimizer.copy_stale import CopyStale
from debugtracer.trace.facts.stale_copy import StaleCopy, UsedUp
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


def test_a_loop_over_an_iterator_that_is_used_up_is_told_at_the_line_that_keeps_it():
    told = StaleCopy(
        ref=ref(2), module="Net", updates=24, apart=0.07, frame=line(33), called=line(91),
        spent=UsedUp(name="self.params", used_up=line(37), empty=line(42)),
    )  # fmt: skip
    (finding,) = judged(CopyStale(), [told])
    assert (finding.place.frame, finding.place.symptom_frame, finding.confidence) == (line(33), line(42), 0.97)
    assert finding.message == (
        "step 2, rank 0: Net (train.py:91) is evaluated and has not moved in 24 updates, after which the trained model "
        "is 0.07 of its norm away; `self.params` (train.py:33) can be gone through once, the loop at train.py:37 uses "
        "it up and the one at train.py:42, which would write the copy, goes through nothing; expected a copy that "
        "follows. Make it a list."
    )
