"""A sum that takes a tensor with a graph and gives it back (`x + (q - x)`), and passes it no gradient."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class StraightThrough(Fact, frozen=True, kw_only=True):
    """Seen once a step for each line, in inspected steps, before the backward of a loss."""

    how: Literal["detached", "cancels", "missing"]
    """missing: there is no such sum, and codes that a choice looked up go on in place of what they are compared with;
    detached: the whole sum has lost its graph, and nothing of it hangs on the loss; cancels: the tensor has a graph
    on both sides, and its gradients add up to 0."""
    shape: tuple[int, ...]
    module: str
    """The class of the module in whose method it is formed; empty outside modules."""
    choice: str = ""
    """missing: the function that chose."""
    frame: Frame | None
    handed_on: Frame | None = None
    """missing: the line that gives the codes to what comes next."""
    twice: bool = False
    """missing: codes were looked up a second time by the same choice, as for such a sum."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
