"""An autograd.Function of the program's that hands on its input, and its gradient with the sign that it has."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class PassedGradient(Fact, frozen=True, kw_only=True):
    """Seen once, on the inputs of its first call."""

    ABOUT = "an autograd.Function of its own"

    function: str
    """Its class."""
    frame: Frame | None
    """The line of its backward that gives the gradient."""
    called: Frame | None
    """The line that calls it."""
    ratio: Number
    """What backward gives, by what came in; where a number that it is given was 0: with 1 in its place."""
    numbers: int
    """Plain numbers that it is given beside its tensors."""
    unused: bool
    """None of them changes what it gives, nor what its backward gives."""
    from_zero: bool
    """One of them was 0 in the first call."""
    branches: bool
    """What it is given goes elsewhere in the graph, too."""

    def key(self) -> object:
        """Identify the function that the fact is about."""
        return self.function, self.frame
