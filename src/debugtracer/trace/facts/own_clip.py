"""A clip in a loop that writes its weights itself, which met no gradient that was still to be used."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OwnClip(Fact, frozen=True, kw_only=True):
    """One update by hand; told of the first ones of a run, until a clip meets a fresh gradient."""

    frame: Frame | None
    """The line of the clip."""
    limit: float
    why: Literal["none", "used"]
    """There was no gradient, or the weights had been written with it."""
    number: int
    """Such updates running, from 1."""

    def key(self) -> object:
        """Identify the line and how many there were."""
        return self.frame, self.number
