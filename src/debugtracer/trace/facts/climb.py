"""Updates that climb the loss function which they are made of."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class Climb(Fact, frozen=True, kw_only=True):
    """Seen once: in each of the first updates all that was trained moved so that the loss function rises."""

    KEEP = 4

    function: str
    """The loss function: cross-entropy, squared error."""
    updates: int
    """Updates that were looked at; all of them climbed."""
    cosine: float
    """Of the change of the weights and the gradient, the mean of these updates."""
    turned: bool
    """The loss was made negative before backward; else the update itself goes the wrong way."""
    maximize: bool = False
    """The optimizer was asked to."""
    optimizer: str = ""
    """Its class; empty where the loop writes its weights itself."""
    start: float
    """The loss that backward was called on at the first of them."""
    frame: Frame | None = None
    """The line that turns it: the minus, the write, or the constructor of the optimizer."""
    backward: Frame | None = None
