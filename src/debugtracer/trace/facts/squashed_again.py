"""A sigmoid or softmax of what a sigmoid or softmax gave."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class SquashedAgain(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    KEEP = 16

    inner: str
    """The function that came first: sigmoid or softmax."""
    outer: str
    classes: int = 0
    """Places that both normalise over, of two softmaxes."""
    frame: Frame | None
    """The line of the outer one."""
    inner_frame: Frame | None
    inner_module: str = ""
    """The class of the layer that is the inner one, where it is one."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
