"""How often a loop without an optimizer that steps has written its weights itself."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OwnUpdates(Fact, frozen=True, kw_only=True):
    """Seen from one backward to the next; none is emitted once an optimizer has stepped."""

    KEEP = 4

    backwards: int
    """Backward calls so far."""
    updates: int
    """Changes of the weights between them."""
    optimizers: int = 0
    """Optimizers that were built, and never stepped."""
    trains: bool = True
    """The last model called was in training mode."""
    inputs: bool = False
    """A tensor that is no weight has got a gradient: an attack, a saliency map."""
    backward_frame: Frame | None = None
    """The first backward."""
    rebound: Frame | None = None
    """Without updates: the line that binds an updated weight to a name and writes no parameter."""
