"""A weight matrix whose units are all equal in the first steps, and whether their gradients are equal too."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class EqualUnits(Fact, frozen=True, kw_only=True):
    """One trainable matrix at the moment before an update."""

    ABOUT = "an optimizer"
    KEEP = 256

    param: str
    module: str
    shape: tuple[int, ...]
    units: int
    value: Number | None = None
    """The one value of the whole matrix, if it has only one."""
    grad_equal: bool = False
    """The gradients of all units are equal too: they will stay equal."""
    grad_zero: bool = False
    looks: int = 1
    """How often it was seen like that in a row."""
    frame: Frame | None = None
    """The line that filled it, where it was seen."""

    def key(self) -> object:
        """Identify the parameter that the fact is about."""
        return self.param
