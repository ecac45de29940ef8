"""A part of the training that the program builds once and that no line of it reads."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UnreadPart(Fact, frozen=True, kw_only=True):
    """Told once for each assignment."""

    name: str
    """That the assignment gives it."""
    frame: Frame
    """The assignment."""
    part: str
    """`scheduler`: never stepped by the end of the run; `sampler`; `generator`; `class weights`: as many numbers as a
    loss without weights has classes."""
    kind: str
    """Its class."""
    count: int = 0
    """Classes, or updates without a step of the scheduler."""
    without: Frame | None = None
    """The line of what goes without it: the loss, or the loader."""

    def key(self) -> object:
        """Identify the assignment that it is about."""
        return self.name, self.frame
