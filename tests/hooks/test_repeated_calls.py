"""Which calls before a graph are told."""

from __future__ import annotations

from debugtracer.hooks.repeated_calls import MOST, RepeatedCalls
from debugtracer.recorder.tape.step_tape import Segment


def called_at_one_place(calls: RepeatedCalls, segment: Segment, times: int) -> list[bool]:
    """The answers to so many calls of one line."""
    return [calls.too_many(segment) for _ in range(times)]


def test_a_place_is_told_so_often_and_another_one_anew():
    calls, segment = RepeatedCalls(), Segment(0)
    assert called_at_one_place(calls, segment, MOST + 2) == [False] * MOST + [True] * 2
    assert calls.too_many(segment) is False


def test_a_new_segment_begins_anew():
    calls = RepeatedCalls()
    called_at_one_place(calls, Segment(0), MOST + 1)
    assert called_at_one_place(calls, Segment(1), 1) == [False]


def test_nothing_is_left_out_once_the_step_has_a_graph():
    calls, segment = RepeatedCalls(), Segment(0)
    segment.has_graph = True
    assert called_at_one_place(calls, segment, 2 * MOST) == [False] * 2 * MOST
