"""An optimizer that steps although none of its parameters ever has a gradient."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class NoGradient(Fact, frozen=True, kw_only=True):
    """Looked at before its updates 1, 2, 4, 8 and so on: no gradient was there, not even one of 0."""

    ABOUT = "an optimizer"
    KEEP = 8

    optimizer: int
    """Its number, in the order of their first steps."""
    kind: str
    frame: Frame | None
    """Where the user built it."""
    updates: int
    """Updates it has made so far."""
    looks: int
    held: int
    """Parameters it holds that ask for a gradient."""
    backwards: int
    """Backward calls of the run so far."""
    forwards: int = 0
    """Where none ran: root calls in training mode whose output a backward could have begun from."""
    called: Frame | None = None
    """The line of the first of them."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer
