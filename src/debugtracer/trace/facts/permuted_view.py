"""A view that gives the sizes of a tensor in another order, where only a transpose moves the values with them."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PermutedView(Fact, frozen=True, kw_only=True):
    """Seen at the op that reads the new axes; once a line."""

    function: str
    """view or reshape."""
    shape: tuple[int, ...]
    """Before."""
    result: tuple[int, ...]
    parts: int
    """Tensors that were joined along the rows which it takes apart in the other order; 0: it orders the sizes anew."""
    frame: Frame | None
    """Of the view."""
    reader: str
    """The op that reads the axes; empty where parts were joined."""
    reader_frame: Frame | None
    flattened: tuple[int, ...] = ()
    """The two sizes that became the rows before, where it takes them apart in the other order; empty for others."""
    whole: bool = False
    """Axes that are split and joined as they lie give these sizes too: (4, 8) of (8, 4), two rows joined to each."""
    layer: str = ""
    """The recurrent layer (gru) whose last states, (layers and directions, batch, units), it cuts into rows of the
    batch; empty for others."""

    def key(self) -> object:
        """Identify the line of the view."""
        return self.frame
