"""Weights that an inner update has made, and a loss that knows nothing of them."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class AdaptedWeights(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step: no backward of it, and no gradient that was asked for, leads to one of them."""

    weights: int
    """Tensors that were made of a weight of the optimizer and its gradient."""
    tensors: int
    """Those of all rounds."""
    tried: int
    """Calls with a graph that took one of them."""
    frame: Frame | None
    """The line of the loop that called the model for the loss, with the weights as they were."""
    made_frame: Frame | None
    """The line that made the first of them."""
    backward_frame: Frame | None

    def key(self) -> object:
        """Identify the lines and the look: the check counts them."""
        return self.made_frame, self.backward_frame, self.ref.step
