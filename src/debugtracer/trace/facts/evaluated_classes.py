"""What a model calls each class of the evaluation."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class EvaluatedClasses(Fact, frozen=True, kw_only=True):
    """Labels of one evaluating loader beside the classes that the model gave the largest score."""

    KEEP = 8

    counts: tuple[int, ...]
    """Samples of each class in the evaluation."""
    hits: tuple[int, ...]
    """Those of them that were called by their class."""
    called: tuple[int, ...]
    """The class that most of them were called."""
    most: tuple[int, ...]
    """How many those are."""
    trained: float
    """Share of the training labels that the model gave the largest score in the last look."""
    frame: Frame | None = None
    """The line that built the loader of the evaluation."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote its labels and not those of training, the one that made them first."""

    def key(self) -> object:
        """Tell a loader anew in each evaluation."""
        return self.frame, self.ref.step
