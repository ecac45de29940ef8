"""An attribute of a layer, a parameter or an optimizer that torch does not know, beside the one that was meant."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class MisspeltName(Fact, frozen=True, kw_only=True):
    """Seen once, after the first backward; of an optimizer in an inspected step or at the end."""

    KEEP = 16

    path: str
    """Of the layer or parameter below its root; the class of the root itself; nothing of an optimizer."""
    layer: str
    """Class of the layer or optimizer; Parameter of a parameter."""
    name: str
    """As it is written: `weights`, `require_grad`."""
    meant: str
    """What torch reads: `weight`, `requires_grad`."""
    value: bool | None = None
    """What a flag was set to; None for a tensor and a number."""
    parameters: int = 1
    """Parameters whose flag says the opposite."""
    given: Number | None = None
    """What a setting of an optimizer was set to."""
    used: Number | None = None
    """The number that all its groups hold."""
    frame: Frame | None = None
    """The line that sets it."""

    def key(self) -> object:
        """Identify the line, or the attribute where none is known."""
        return self.frame if self.frame is not None else (self.path, self.name)
