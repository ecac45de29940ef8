"""An input whose values are smooth in another order of its axes than the one that it has."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class MisreadAxes(Fact, frozen=True, kw_only=True):
    """Seen in two inspected steps, of the first argument of a network in training."""

    root: str
    """Class of the network."""
    shape: tuple[int, ...]
    """As it was given, the rows first."""
    read: tuple[int, ...]
    """The sizes as which a row was read."""
    sizes: tuple[int, ...]
    """Those in which it was written."""
    present: Number
    """Mean correlation of neighbours along the long axes."""
    restored: Number
    """The same of the values in the order in which they were written."""
    frame: Frame | None = None
    """The line that gave the values these sizes, where the source shows it."""
    made: tuple[Frame, ...] = ()
    """The lines that made the input."""
    call_frame: Frame | None = None

    def key(self) -> object:
        """Identify the network and the shape."""
        return self.root, self.shape
