"""What is handed to the judge and what is left out, and how long who waits for it waits."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from debugtracer.diagnosis.judging import live_checks as module
from debugtracer.diagnosis.judging.live_checks import LiveChecks

# the limits as they are promised
LATE, SOON = 2000, 500

STEPS = [(number, number + 1, {"loss": 1.0}) for number in range(4)]


def checks(every=1, started=True, given=0):
    """Checks whose thread is told by the test."""
    live = LiveChecks(lambda finding: None)
    live.every, live.given, live.changed = every, given, given
    live.thread = threading.current_thread() if started else None
    live.start = lambda: None
    return live


@pytest.mark.parametrize(
    ("every", "started", "stand_out", "judged", "left_out"),
    [
        (1, True, (False,) * 4, [0, 1, 2, 3], 0),
        (2, True, (False,) * 4, [1, 3], 2),
        (3, True, (False,) * 4, [2], 3),
        (3, True, (True, False, False, False), [0, 2], 2),
        (4, True, (False, False, False, True), [3], 3),
    ],
)
def test_of_steps_that_do_not_stand_out_one_in_so_many_is_judged(every, started, stand_out, judged, left_out):
    live = checks(every, started)
    live.hand_over(2, STEPS, stand_out)
    assert [item.ref.step for item in live.queue] == judged
    assert (live.given, live.thinned) == (4, left_out)
    assert {(item.ref.rank, item.ref.iteration - item.ref.step) for item in live.queue} == {(2, 0)}


def test_how_many_were_left_out_is_told_with_the_next():
    live = checks(3)
    live.hand_over(0, STEPS, (False, False, False, True))
    assert [item.skipped for item in live.queue] == [2, 0] and live.skipped == 0


def test_before_the_first_backward_an_iteration_is_0():
    live = checks()
    live.hand_over(0, [(0, 0, {})], (False,))
    assert live.queue[0].ref.iteration == 0


@pytest.mark.parametrize(
    ("waiting", "every", "expected"),
    [(LATE, 2, 4), (LATE - 1, 2, 2), (SOON, 2, 2), (SOON - 1, 2, 1), (SOON - 1, 4, 2), (SOON - 1, 1, 1)],
)
def test_fewer_are_taken_where_the_judge_is_late_and_more_where_it_has_caught_up(waiting, every, expected):
    live = checks(every, given=7)
    live.changed = 3
    live.queue.extend([None] * waiting)
    live.thin()
    assert (live.every, live.changed) == (expected, 7 if expected != every else 3)


def test_nobody_waits_for_a_judge_that_has_ended_or_is_himself():
    for thread in (None, SimpleNamespace(is_alive=lambda: False), threading.current_thread()):
        live = checks()
        live.thread = thread
        assert live.catch_up() is True and not live.queue and live.urgent is False


def test_an_incident_waits_for_the_judge_for_two_seconds(monkeypatch):
    asked = []

    class Event:
        def wait(self, seconds):
            asked.append(seconds)
            return False

    live = checks()
    live.thread = SimpleNamespace(is_alive=lambda: True)
    monkeypatch.setattr(module.threading, "Event", Event)
    assert live.catch_up() is False and asked == [2.0] and live.urgent is True and len(live.queue) == 1


def test_the_end_waits_for_the_judge_for_twenty_seconds():
    asked = []
    live = checks()
    live.thread = SimpleNamespace(is_alive=lambda: True, join=asked.append)
    assert live.finish() is False and asked == [20.0] and live.over is True
