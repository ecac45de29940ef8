"""What a loop over a loader counts, and what the program makes of the count."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PassCount(Fact, frozen=True, kw_only=True):
    """Seen in a pass over a loader."""

    ABOUT = "a loop over a DataLoader"
    KEEP = 16

    kind: Literal["kept", "listed", "meter", "shared", "last"]
    """It begins a later pass with what the one before has left, as a number, a list or an object with a `reset`; it is
    divided by another number than the rows of the pass; it is written anew by each batch, and read behind the loop."""
    name: str
    use: str
    """What the program makes of it."""
    value: float = 0.0
    """What a later pass begins with (of a list its length); what it is divided by."""
    rows: int = 0
    """Of the pass."""
    batches: int = 0
    passes: int = 0
    """Passes of this loop before."""
    steps: int = 0
    """Updates between this pass and the first."""
    mean: bool = False
    """What it is divided by goes on as well: the value is a mean over all passes."""
    begun: Frame | None = None
    """The line that sets it; of an object that of the loop."""
    frame: Frame | None = None
    """The line of the loop that writes it."""
    used: Frame | None = None
    """The line that makes something of it."""

    def key(self) -> object:
        """Identify the count by its line."""
        return self.kind, self.name, self.frame
