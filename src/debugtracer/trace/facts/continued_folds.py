"""An evaluation on rows that the same weights were trained on in a fold before."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ContinuedFolds(Fact, frozen=True, kw_only=True):
    """Told once, at the first evaluation of such rows."""

    ABOUT = "a DataLoader"

    fold: int
    """The fold of the evaluation, from 1."""
    model: str
    """The class of the network that went on."""
    shared: int
    """Rows of the evaluation that were trained on in a fold before."""
    rows: int
    """Rows of the evaluation."""
    current: int
    """Those that are trained on in its own fold, too."""
    frame: Frame | None
    """Where the loader of the evaluation was built."""
    train_frame: Frame | None
    """Where that of the training was built."""
    built: Frame | None
    """Where the optimizer was built."""
    samples: tuple[int, ...] = ()
    """Some of the shared rows."""
    made: Frame | None = None
    """Where the network was made."""

    def key(self) -> object:
        """Identify the lines that built the loaders."""
        return self.frame, self.train_frame
