"""Labels that stand class by class beside inputs that the source puts into another order."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class ClassBlocks(Fact, frozen=True, kw_only=True):
    """Seen once, of the data of the first loss, where the classes cannot be told from the inputs as they are paired."""

    rows: int
    """Of the whole data, in its order."""
    classes: int
    entropy: Number
    """Of the classes, nats; what a loss is that knows no more than how frequent each is."""
    frame: Frame | None = None
    """The line that orders the inputs."""
    loss_frame: Frame | None = None

    def key(self) -> object:
        """Tell the data of a loss once."""
        return self.loss_frame
