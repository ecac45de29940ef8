"""A number that the program itself logs, beside the true value at that time."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class Logged(Fact, frozen=True, kw_only=True):
    """One scalar given to TensorBoard, Lightning, the Hugging Face Trainer or wandb."""

    ABOUT = "a logged value"
    KEEP: ClassVar[int] = 512

    source: str
    name: str
    value: Number
    at: int | None = None
    """The step number it was logged under."""
    ratio: Number | None = None
    """Value divided by the last loss that backward was called on (before scaling), for names of losses; None where that
    takes a host sync."""
    scaler: bool = False
    """A GradScaler is in use."""
    hidden: int = 0
    """Non-finite losses since the value before, which this logger replaces by others."""
    frame: Frame | None = None

    def key(self) -> object:
        """Identify the number by its logger and name."""
        return self.source, self.name
