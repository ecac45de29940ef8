"""An evaluation that hands a model the targets that it is to predict, and how far its outputs depend on them."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class EvaluatedTargets(Fact, frozen=True, kw_only=True):
    """Tried once, on a copy of the model in evaluation mode; equal generators gave equal outputs."""

    root: str
    argument: str
    """The argument that holds the targets."""
    runs: int
    """Runs with generators of their own; in each a second one had one position of the targets changed."""
    used: int
    """Runs in which an output changed with it. All: the targets are always an input; some: chance decides."""
    numbers: bool
    """The targets are numbers, not ids: there is no likelihood of a text to be measured with them."""
    frame: Frame | None = None
    """The line of the evaluation that calls the model."""
    loss_frame: Frame | None = None
    """The loss of training that asks for them."""

    def key(self) -> object:
        """Tell a model once."""
        return self.root, self.argument
