"""A gradient that one objective leaves in the network it only passes through, and the next objective adds to."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class CriticGradient(Fact, frozen=True, kw_only=True):
    """One update of an optimizer that used gradients of another optimizer's objective."""

    ABOUT = "two optimizers"
    KEEP = 16

    optimizer: int
    """Whose update it was."""
    kind: str
    built: Frame | None = None
    other: int = 0
    other_kind: str = ""
    """Whose objective it was: the gradient of its parameters passes through those of the first optimizer alone."""
    other_built: Frame | None = None
    number: int = 0
    """Such updates seen before it."""
    parameters: int = 0
    """Parameters that hold such a gradient."""
    backward: Frame | None = None
    """The backward of that objective."""
    added: Frame | None = None
    """The backward that added to it."""
    cleared: Frame | None = None
    """The zero_grad of the first optimizer that came before both."""
    step: Frame | None = None

    def key(self) -> object:
        """Identify the two optimizers."""
        return self.optimizer, self.other
