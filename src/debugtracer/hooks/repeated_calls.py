"""Which torch calls of a loop without a graph are told to observers: the first ones of each place tell what a thousand
others would."""

from __future__ import annotations

from types import CodeType

from debugtracer.callsites.frames import calling_place
from debugtracer.recorder.tape.step_tape import Segment

MOST = 2048  # calls of one place before a step has a graph (ours): as many as a rollout has steps; a dataset that is
# built item by item makes tens of thousands


class RepeatedCalls:
    """One per function mode. Observers take some hundred microseconds for each call of an inspected step, and the first
    step begins where the program does."""

    def __init__(self) -> None:
        self.segment = -1
        self.calls: dict[tuple[CodeType, int], int] = {}
        """By place: its calls in this segment."""

    def too_many(self, segment: Segment) -> bool:
        """Count a call and say whether its place has made enough of them. Always False once the step has a graph, or
        where nobody knows."""
        if segment.has_graph or segment.backwards or segment.rested:
            return False
        place = calling_place()
        if place is None:
            return False
        if segment.number != self.segment:
            self.segment = segment.number
            self.calls.clear()
        self.calls[place] = count = self.calls.get(place, 0) + 1
        return count > MOST
