"""A term of the loss of a policy that pulls the wrong way, or at the wrong network."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PolicyTerm(Fact, frozen=True, kw_only=True):
    """Read from the graph of a loss in inspected steps; once a line."""

    KEEP = 8

    term: Literal["advantage", "entropy"]
    """An advantage that hangs on the graph, times a log-probability; or an entropy that the loss adds."""
    parameters: int = 0
    """Tensors that the gradient of the advantage reaches, that of the log-probability does not, and another term of the
    loss trains."""
    frame: Frame | None = None
    """The line of the product, or of the sum."""
    made: Frame | None = None
    """The line that made the advantage, or asked for the entropy."""

    def key(self) -> object:
        """Identify the term by its line."""
        return self.term, self.frame
