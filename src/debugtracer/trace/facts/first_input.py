"""What the first layer of a model is given."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class FirstInput(Fact, frozen=True, kw_only=True):
    """The floating input of the first function of a trained root module that takes a parameter; emitted once for each
    root."""

    KEEP = 8

    root: str
    """Class of the root module."""
    function: str
    """Of torch, as it was called: conv2d, linear, batch_norm."""
    shape: tuple[int, ...]
    mean: Number
    std: Number
    low: Number
    high: Number
    whole: bool
    """Every value looked at is a whole number."""
    frame: Frame | None = None
    made: Frame | None = None
    """The line that wrote what the root module is called with, looked for where the values are next to nothing."""
    normed: bool = False
    """What the function makes goes into a normalisation, which takes any scale away."""

    def key(self) -> object:
        """Identify the root module that the fact is about."""
        return self.root, self.function, self.shape[1:]
