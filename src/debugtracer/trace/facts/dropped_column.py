"""A column of a dataset that Trainer leaves out and that the program asks for."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class DroppedColumn(Fact, frozen=True, kw_only=True):
    """Told once for each trainer class and column."""

    trainer: str
    """The class of the trainer."""
    model: str
    """The class whose forward has no argument of this name."""
    dataset: str
    """The class that delivers the column."""
    column: str
    asked_by: str
    """`compute_loss`, `training_step` or `data_collator`."""
    frame: Frame
    """The line that asks for it."""

    def key(self) -> object:
        """Identify the column of a trainer."""
        return self.trainer, self.column
