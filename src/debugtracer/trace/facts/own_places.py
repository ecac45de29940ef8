"""A model whose outputs read their input in an order, and are to say what it is."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OwnPlaces(Fact, frozen=True, kw_only=True):
    """What came of a trial of a copy in evaluation mode, once: places of the input were changed one at a time, and the
    target of the loss is the input itself."""

    KEEP = 8

    root: str
    """The class of the model."""
    tried: int
    """Places that were changed."""
    own: int
    """Of those, the ones that change the output at their own place."""
    reached: int
    """Pairs of two places of which one changes the output of the other."""
    ordered: bool
    """There is an order of the places in which none is changed by one after it."""
    loss: str
    module: str | None = None
    """The layer with a mask that decides: the first convolution, else the last layer; None without one."""
    frame: Frame | None = None
    """The line that makes it."""
    called: Frame | None = None
    """The line that calls the model."""
    loss_frame: Frame | None = None

    def key(self) -> object:
        """Identify the model and the line that calls it."""
        return self.root, self.called
