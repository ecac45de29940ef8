"""Mixtures with a draw that nobody reads."""

from __future__ import annotations

from debugtracer.checks.data.draws_unread import DrawsUnread
from debugtracer.trace.facts.unread_draw import UnreadDraw
from tests.checks.optimizer.seen import at, found, line


def judged(looks):
    return found(DrawsUnread(), [UnreadDraw(ref=at(0), frame=line(21), looks=looks, given=line(22))])


def test_it_is_said_at_the_line_that_gives_the_plain_input():
    (finding,) = judged(5)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "result_discarded", line(22))
    assert finding.place.symptom_frame == line(21)
    assert finding.message == (
        "step 0, rank 0: what train.py:21 makes of a random draw is never read, in 5 of 5 steps, and train.py:22 gives "
        "the model what it was made of; expected the mixture. Hand that on."
    )


def test_one_look_is_too_few():
    assert judged(1) == []
    assert len(judged(2)) == 1
