"""Two views of each sample that are the same values, compared with one another."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class EqualViews(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step: equal inputs, equal outputs, and a matrix of all pairs made of the outputs."""

    root: str
    samples: int
    """Samples that were seen twice."""
    frame: Frame | None
    """The line that calls the model."""

    def key(self) -> object:
        """Identify the model and the look: the check counts them."""
        return self.root, self.ref.step
