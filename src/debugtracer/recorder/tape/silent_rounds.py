"""Root calls without a graph since the last update (an agent that plays, a generation, an evaluation), and which lines
have called torch beside them before."""

from __future__ import annotations

from types import CodeType

MOST_SILENT = 8  # root calls without a graph in one segment; a distillation step has one or two (ours)
KNOWN = 4  # rounds in which a line has called before it is taken for the loop's (ours)

Place = tuple[CodeType, int]
"""Code and the instruction in it that is running."""


class SilentRounds:
    """One per tape. What a loop does in each of many rounds is dropped with each next one: recording it again and again
    is work for nothing."""

    def __init__(self) -> None:
        self.number = 0
        self.seen: dict[Place, tuple[int, int]] = {}
        """By place: the round in which it called last, and in how many it did."""

    @property
    def many(self) -> bool:
        """Whether there were more than belong to one update."""
        return self.number > MOST_SILENT

    def begin(self) -> None:
        """Count a root call without a graph."""
        self.number += 1

    def repeats(self, place: Place | None) -> bool:
        """Whether a place has called in enough rounds before this one; what is new, or comes once after the loop, has
        not. Counts the call."""
        if place is None:
            return False
        last, rounds = self.seen.get(place, (-1, 0))
        if last != self.number:
            self.seen[place] = (self.number, rounds + 1)
            return rounds >= KNOWN
        return rounds > KNOWN

    def reset(self) -> None:
        """Begin anew: the weights were updated."""
        if self.number:
            self.number = 0
            self.seen.clear()
