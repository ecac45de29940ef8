"""In which mode the dropout and batch-norm layers of a trained module are when backward begins."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ModuleModes(Fact, frozen=True, kw_only=True):
    """One root module that takes part in a backward; emitted when its modes have changed."""

    KEEP = 32

    root: str
    """Its class, and a number when there are several."""
    total: int
    """Layers that behave differently in training: dropout above 0, batch norm."""
    drops: int = 0
    """How many of them draw random numbers: dropout."""
    training: int
    """How many of them are in training mode."""
    sleeping: tuple[str, ...] = ()
    """Paths of the first that are in evaluation mode."""
    norms_only: bool = False
    """All that are in evaluation mode are batch norms."""
    whole: bool = False
    """One call of eval() on the root or around it has switched them all."""
    by_hand: bool = False
    """The root's own flag says training all the same, and no train() was called since: somebody has set it."""
    evaluated: bool = False
    """The root was called without a graph since that call."""
    asked: Frame | None = None
    """Where all are in evaluation mode though an optimizer trains it: the line of the train() call before that one."""
    frame: Frame | None = None
    """The line of that eval() call."""
    symptom: Frame | None = None
    """The line of the backward."""
    silent: int = 0
    """Calls without a graph in training mode, counted up to the number that is emitted."""
    evaluation: bool = False
    """They came with no backward between, on batches of a loader that trains nothing, or before a loss without a
    graph."""

    def key(self) -> object:
        """Identify the root module that the fact is about."""
        return self.root, self.evaluation
