"""Models that act with the weights that they began with."""

from __future__ import annotations

from debugtracer.checks.optimizer.actor_stale import ActorStale
from debugtracer.trace.facts.acting_copy import ActingCopy
from tests.checks.facts_at import judged, line, ref


def fact(frame, rounds=20):
    return ActingCopy(
        ref=ref(160), module="Sequential", rounds=rounds, updates=120, apart=0.12, frame=frame, called=line(91)
    )


def test_a_copy_that_acts_and_stands_still_is_told_at_the_line_that_updates():
    (finding,) = judged(ActorStale(), [fact(line(245))])
    assert (finding.severity, finding.kind, finding.confidence) == ("warning", "average_not_updated", 0.65)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(245), line(91))
    assert finding.message == (
        "step 160, rank 0: Sequential (train.py:91) acts in 20 rounds with the weights that it began with, while the "
        "model trained at train.py:245 is 0.12 of its norm away after 120 updates; expected the new weights in each "
        "round. Copy them behind that line, when the update is over."
    )


def test_without_a_known_line_it_is_told_without_one():
    (finding,) = judged(ActorStale(), [fact(None)])
    assert "the model trained beside it is 0.12" in finding.message and finding.place.frame is None


def test_nothing_seen_and_few_rounds_are_nothing_said():
    assert judged(ActorStale(), []) == []
    assert judged(ActorStale(), [fact(line(245), rounds=15)]) == []
    assert len(judged(ActorStale(), [fact(line(245), rounds=16)])) == 1
