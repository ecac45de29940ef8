"""A state of a recurrent layer that goes from one batch to the next, where the rows are other samples."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class CarriedState(Fact, frozen=True, kw_only=True):
    """Seen at the first call of a layer in one batch."""

    ABOUT = "a recurrent layer"
    KEEP = 16

    module: str
    """Path of the layer."""
    layer: str
    """Its class."""
    rows: int
    before: tuple[int, ...]
    """Dataset indices of the first rows of the batch before."""
    now: tuple[int, ...]
    """The same of this one."""
    loader: Frame | None = None
    """The line that built the DataLoader."""
    made: Frame | None = None
    """The line that keeps the state, or hands it on."""
    frame: Frame | None = None
    """The line that calls the layer."""

    def key(self) -> object:
        """Identify the layer and the look: the check counts them."""
        return self.module, self.ref.iteration
