"""What the run that saved a checkpoint recorded around that save, for the run that goes on from it."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.facts.checkpoint import PlainValue
from debugtracer.trace.facts.fact import Fact


class FormerRun(Fact, frozen=True, kw_only=True):
    """A run in the same folder of runs saved the weights that this run has loaded."""

    ABOUT = "a loaded checkpoint"
    KEEP: ClassVar[int] = 8

    run: str
    """Name of its folder."""
    step: int
    """Updates it had made at the save."""
    start: int
    """Step of this run at which it went on."""
    losses: tuple[tuple[int, float], ...]
    """Finite losses of its steps around the save, by step."""
    same_program: bool = False
    """It ran the same script."""
    plain: tuple[PlainValue, ...] = ()
    """What its models and the objects around its loop held in plain attributes at the save."""

    def key(self) -> object:
        """Identify the place: the run and the step it starts at."""
        return self.run, self.start
