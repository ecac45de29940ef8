"""The weights of the classes in a loss, beside the labels that it was given."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ClassWeights(Fact, frozen=True, kw_only=True):
    """What one line had been given up to a step."""

    KEEP = 32

    loss: str
    """cross_entropy or nll_loss."""
    weights: tuple[float, ...]
    """One a class."""
    counts: tuple[int, ...]
    """Labels of each class in all looks so far."""
    looks: int
    """Inspected steps that the labels are of."""
    frame: Frame | None = None
    """The line that calls the loss."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote the weights, the one that made them first."""

    def key(self) -> object:
        """Tell a line anew in each step."""
        return self.frame, self.weights, self.ref.step
