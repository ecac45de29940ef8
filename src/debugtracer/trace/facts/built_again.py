"""An optimizer or a scheduler that a line builds again and again while the same training goes on."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class BuiltAgain(Fact, frozen=True, kw_only=True):
    """Told once a line, when it has been seen often enough."""

    ABOUT = "an optimizer"
    KEEP = 16

    what: Literal["optimizer", "scheduler"]
    kind: str
    """Its class."""
    frame: Frame | None
    """The line that builds it."""
    built: int
    """How often so far, over the same parameters with the same rate; over the same optimizer."""
    steps: int
    """Updates between the last two."""
    calm: int
    """Times that the weights were bit for bit what the last update before had left."""
    in_pass: bool = False
    """Of an optimizer: each time the updates between lay in one pass over one data set."""
    calls: int = 0
    """Of a scheduler: the most calls of its step that one of them has seen."""
    horizon: int | None = None
    """Of a scheduler: the number of calls it is made for, where its class has one."""
    horizon_word: str = ""
    rate: float = 0.0
    """Of a scheduler: the rate after each constructor."""

    def key(self) -> object:
        """Identify the line that builds it."""
        return self.what, self.frame
