"""An argument of a model's forward that its code never reads."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UnreadArgument(Fact, frozen=True, kw_only=True):
    """Told once for each class and argument; another one of the same shape and type is read twice or more."""

    root: str
    """The class of the model."""
    argument: str
    other: str
    """The argument that is read instead."""
    reads: int
    """How often the code reads that."""
    shape: tuple[int, ...]
    """Of both."""
    frame: Frame
    """The line of its last read."""

    def key(self) -> object:
        """Identify the argument of a class."""
        return self.root, self.argument
