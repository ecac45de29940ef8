"""A copy of weights that is none: it lies in the memory of the weights that are trained."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class SharedMemory(Fact, frozen=True, kw_only=True):
    """Seen once for a place; only addresses were compared."""

    how: Literal["restored", "exchanged", "unchanged", "difference", "rescue", "network"]
    """`restored`: load_state_dict was given the model's own memory, taken some updates ago. `exchanged`: the same, and
    other weights were loaded at `frame` in between. `unchanged`: it was given
    values computed from such a state, again and again what was there. `difference`: the loss takes a weight from
    itself. `rescue`: an optimizer keeps weights that it writes between two backward calls in their
    own memory. `network`: a second network without an optimizer lies in the memory of a trained one."""
    name: str
    """A parameter, or the class of a network."""
    count: int
    """Parameters that are concerned."""
    updates: int
    """Updates since the copy was taken, or first seen."""
    frame: Frame | None
    """Where it shows."""
    made: Frame | None = None
    """Where it was taken, if that is known."""

    def key(self) -> object:
        """Identify what is shared and where."""
        return self.how, self.name, self.frame
