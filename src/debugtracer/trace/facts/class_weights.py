"""The weights of the classes in a loss, beside the labels that it was given."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ClassWeights(Fact, frozen=True, kw_only=True):
    """What one line had been given up to a step."""

    KEEP = 32

    loss: str
    """cross_entropy, nll_loss or binary_cross_entropy_with_logits."""
    weights: tuple[float, ...]
    """One a class; with `negatives` the pos_weight of each column."""
    counts: tuple[int, ...]
    """Labels of each class in all looks so far; with `negatives` the positive ones of each column."""
    looks: int
    """Inspected steps that the labels are of."""
    frame: Frame | None = None
    """The line that calls the loss."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote the weights, the one that made them first."""
    negatives: tuple[int, ...] = ()
    """Labels below one half of each column of a binary loss; empty for a loss that picks one class."""

    def key(self) -> object:
        """Tell a line anew in each step."""
        return self.frame, self.weights, self.ref.step
