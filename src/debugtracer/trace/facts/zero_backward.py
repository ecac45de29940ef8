"""What an autograd.Function of the program's passed back in one backward: nothing but zeros, or something."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ZeroBackward(Fact, frozen=True, kw_only=True):
    """One look at all calls of a Function in the graph of a loss, where a gradient other than 0 came in; the first one
    that passed something on ends the looks."""

    ABOUT = "an autograd.Function of its own"
    KEEP = 256

    function: str
    """Its class."""
    frame: Frame | None
    """The line of its backward that computes the gradient."""
    zero: bool
    """All gradients that it gave were exactly 0."""
    reverses: bool = False
    """Each of these zeros has the other sign of what came in, or would be -1 for 1 if its factor were 1: a gradient
    that is turned round, times 0."""
    values: int = 0
    """Elements that came in."""
    factor: str = ""
    """What it kept on its context that is 0."""
    made: Frame | None = None
    """The line that wrote the argument of the first call that was 0."""

    def key(self) -> object:
        """Identify the function and the look: the check counts them."""
        return self.function, self.frame, self.ref.step
