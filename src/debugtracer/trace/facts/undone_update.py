"""Parameters that an update moved and that were back, bit for bit, when the next one began."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UndoneUpdate(Fact, frozen=True, kw_only=True):
    """One update of an optimizer, looked at again when its next one begins."""

    ABOUT = "an optimizer"
    KEEP = 16

    optimizer: int
    kind: str
    built: Frame | None = None
    number: int = 0
    """Updates of this optimizer before this one."""
    moved: int = 0
    """Parameters that it moved."""
    back: int = 0
    """Those of them that were again what they had been before it."""
    params: tuple[str, ...] = ()
    """The first of these."""
    loaded: Frame | None = None
    """The call in the loop's own function through which a state was loaded into them in between."""
    loads: Frame | None = None
    """The innermost line of that call."""
    written: Frame | None = None
    """The line of the program that first put another value into one of its parameters after it."""
    reset: bool = False
    """The optimizer's state was loaded in between, too: each update starts anew on purpose."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer
