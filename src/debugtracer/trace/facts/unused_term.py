"""A term of a loss whose gradients were cleared before any optimizer used them."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UnusedTerm(Fact, frozen=True, kw_only=True):
    """What became of the gradients of one term of one backward, where another term of it was used."""

    ABOUT = "two optimizers"

    number: int
    """Which summand of the loss, from 0."""
    terms: int
    """Summands of the loss."""
    used: bool
    """An optimizer used a gradient of it; told of terms of which no gradient was used before."""
    parameters: int
    """Trained parameters that it reaches."""
    backward: Frame | None
    """The line of the backward."""
    kind: str = ""
    built: Frame | None = None
    """The optimizer that holds them, and found their gradients cleared when it stepped."""
    other_kind: str = ""
    other_built: Frame | None = None
    """The optimizer that used the other terms."""
    cleared: Frame | None = None
    """The line that cleared the gradients."""
    cut: Frame | None = None
    """The line that cut off what that optimizer's network made, and this term took."""
    taken: Frame | None = None
    """The call that took what was cut off; None where the term took nothing of the kind."""

    def key(self) -> object:
        """Identify the term and the backward: the check counts them."""
        return self.backward, self.number, self.terms, self.ref.iteration
