"""A term of the loss of a policy that pulls the wrong way, or at the wrong network."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PolicyTerm(Fact, frozen=True, kw_only=True):
    """Read from the graph of a loss in inspected steps; once a line."""

    KEEP = 8

    term: Literal["advantage", "entropy", "surrogate", "target"]
    """An advantage that hangs on the graph, times a log-probability; an entropy that the loss adds; the wrong one of a
    clipped and an unclipped term; a target that hangs on the graph of the values that are fitted to it."""
    taken: str = ""
    """Of two terms, which one: `larger`, `smaller`."""
    parameters: int = 0
    """Tensors that the gradient of the advantage reaches, that of the log-probability does not, and another term of the
    loss trains; or those that both a target and what is fitted to it reach."""
    frame: Frame | None = None
    """The line of the product, of the sum, or of the choice."""
    made: Frame | None = None
    """The line that made the advantage, asked for the entropy, or compares the target."""

    def key(self) -> object:
        """Identify the term by its line."""
        return self.term, self.frame
