"""Incidents of ranks that train together: which of them looks into a step, and that all of them stop."""

from __future__ import annotations

import contextlib

import pytest

from debugtracer.diagnosis.rank_consensus import Decision
from debugtracer.errors import StoppedByTracer
from tests.diagnosis.incidents_opened import incidents


class Ranks:
    """A consensus that says what the test wants."""

    def __init__(self, decision=None, *, waiting=None, others=False, meets=True, holds=False) -> None:
        self.decision, self.waiting, self.others = decision, waiting, others
        self.known, self.kept, self.refusal = meets, holds, ""
        self.told = []

    def decide(self, bad, is_open):
        return self.decision

    def meets(self):
        return self.known

    def holds(self, alarm):
        return self.kept

    def taken(self):
        return self.waiting

    def any(self, opened, decision):
        self.told.append(opened)
        return opened or self.others

    def any_bad(self, bad):
        return bad

    def session(self, context, most, decision):
        return contextlib.nullcontext()


def looking(ranks, opens=True, **options):
    """Incidents that keep which alarms they look into."""
    made = incidents(ranks, **options)
    made.looked = []
    made.attempt = lambda alarm: made.looked.append(alarm) or opens
    return made


MINE, OTHERS = Decision(mine=True, together=True), Decision(mine=False, together=True)


def test_an_alarm_that_waits_for_the_gate_is_not_looked_into():
    held = looking(Ranks(holds=True))
    held.open("alarm")
    assert held.looked == []
    alone = looking(Ranks(holds=False))
    with pytest.raises(StoppedByTracer):
        alone.open("alarm")
    assert alone.looked == ["alarm"]


def test_nothing_is_done_together_without_ranks_or_where_all_is_well():
    assert looking(None).together(True, lambda: "alarm") is False
    assert looking(Ranks(None)).together(True, lambda: "alarm") is False


def test_the_loss_that_waited_comes_before_the_gradient_of_the_gate():
    for waiting, expected in (("loss", "loss"), (None, "gradient")):
        one = looking(Ranks(MINE, waiting=waiting), stops=False)
        assert one.together(True, lambda: "gradient") is True
        assert (one.looked, one.consensus.told) == ([expected], [True])


def test_a_rank_that_has_nothing_waits_and_stops_with_the_others():
    one = looking(Ranks(OTHERS, waiting="loss", others=True))
    with pytest.raises(StoppedByTracer):
        one.together(False, lambda: "gradient")
    assert (one.looked, one.consensus.told, one.stopped_with) == ([], [False], [one.state])


def test_a_rank_with_an_incident_stops_by_its_own_words():
    one = looking(Ranks(MINE))
    with pytest.raises(StoppedByTracer):
        one.together(True, lambda: "gradient")
    assert one.stopped_with == []


def test_no_rank_stops_where_none_has_an_incident_or_the_mode_goes_on():
    assert looking(Ranks(MINE), opens=False).together(True, lambda: "gradient") is True
    goes_on = looking(Ranks(OTHERS, others=True), stops=False)
    assert goes_on.together(False, lambda: "gradient") is True and goes_on.stopped_with == []


def test_weights_that_could_not_be_put_together_are_noted():
    one = looking(Ranks(MINE), stops=False)
    one.together(True, lambda: "gradient")
    assert one.output.notes == []
    one.consensus.refusal = "too large"
    one.together(True, lambda: "gradient")
    assert one.output.notes == [("whole", "too large")]


@pytest.mark.parametrize(("ranks", "answer"), [(None, None), (Ranks(meets=False), None), (Ranks(), True)])
def test_all_ranks_are_asked_where_they_meet(ranks, answer):
    one = looking(ranks)
    assert one.meets() is (answer is True) and one.any_bad(True) is answer


def test_a_loss_that_waited_is_looked_into_alone_where_its_gradient_was_good():
    for ranks, looked in ((None, []), (Ranks(), []), (Ranks(waiting="loss"), ["loss"])):
        one = looking(ranks)
        one.look_alone()
        assert one.looked == looked
