"""A tensor that the program makes in each step and that no line of it reads."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class UnreadValue(Fact, frozen=True, kw_only=True):
    """Told once for each assignment, when it was seen in two steps with another tensor in each, or in a fetch."""

    name: str
    """That the assignment gives it."""
    frame: Frame
    """The assignment."""
    shape: tuple[int, ...]
    how: str
    """`replaced`: what it was made of is read after it, is like it and has other values; `kept`: another name for what
    was replaced by a like one since; `rows`: values for the rows or positions of a like tensor beside it, that no
    weight made; `other`."""
    like: str = ""
    """The name of the like tensor."""
    like_frame: Frame | None = None
    """The line that reads it where the unread one was meant, as it seems."""
    changed: Number = 0.0
    """Share of the values in which the two differ."""
    fetched: bool = False
    """It is made where a sample is fetched."""

    def key(self) -> object:
        """Identify the assignment that it is about."""
        return self.name, self.frame
