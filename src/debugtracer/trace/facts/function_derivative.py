"""What came of comparing a hand-written backward with its forward, once, on the inputs it really had."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number

Difference = Literal["same", "factor", "other", "cut", "reversed", "unscaled", "rows", "bounded", "steps"]


class FunctionDerivative(Fact, frozen=True, kw_only=True):
    """One input of an autograd.Function of the program's, in double precision."""

    ABOUT = "an autograd.Function of its own"

    function: str
    """Its class."""
    frame: Frame | None
    """The line of its backward that computes the gradient of this input, else the one that returns it."""
    input: int
    """Which argument of forward."""
    difference: Difference
    """factor: backward is the derivative times a number; other: another direction; cut: the derivative is not 0 and
    backward gives only zeros; reversed: of a function in steps, backward is 0 where the function rises over a wider
    distance and not 0 where it is flat; unscaled: backward of one number gives the same whatever gradient comes in, and
    another one than 1 came in; rows: the derivative times a positive number of its own for each row; bounded: the
    derivative where a next to vanishing gradient comes in, not beyond; steps: another one, of a function that is in
    steps of another input."""
    derivative: Number = 0.0
    """The directional derivative of forward, by differences."""
    backward: Number = 0.0
    """The same by backward; of `reversed` both are shares of elements: rising ones, and those of them that are given a
    gradient."""
    ratio: Number | None = None
    """The second by the first, where that is one number in all directions."""
    came_in: Number | None = None
    """The gradient that came in at the first backward, of a function that gives one number."""

    def key(self) -> object:
        """Identify the function and its input."""
        return self.function, self.frame, self.input
