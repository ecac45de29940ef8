"""Noise that a network is trained to predict, and what it is given where it generates."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class PredictedNoise(Fact, frozen=True, kw_only=True):
    """A call without a graph, with an input of the shape of the noise that is mixed into inputs and predicted."""

    ABOUT = "noise that is a target"
    KEEP = 8

    draw: str
    """The function that draws the noise of training: rand_like, randn."""
    mean: Number
    std: Number
    """Of the noise of training."""
    given_mean: Number
    given_std: Number
    """Of what the network is given first where it generates."""
    count: int
    """Values of that."""
    steps: int
    """Inspected steps in which the noise was followed."""
    low: Number = 0.0
    high: Number = 0.0
    """Ends of what it is given."""
    loss: str = ""
    frame: Frame | None = None
    """The line that draws it."""
    given_frame: Frame | None = None
    """The line that calls the network."""

    def key(self) -> object:
        """Identify the line that draws and the one that generates."""
        return self.frame, self.draw, self.given_frame
