"""Random numbers of a model's forward that are the same in each of the first steps, while its inputs are not."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class RepeatedDraw(Fact, frozen=True, kw_only=True):
    """Seen once for a line, at the last of these steps."""

    draw: str
    """The function that drew them: randn, rand ..."""
    shape: tuple[int, ...]
    module: str
    """The class of the module in whose method they are drawn."""
    looks: int
    """Steps in which they were the same."""
    frame: Frame | None
    """The line that draws."""
    made: Frame | None
    """The line that makes the generator it is given."""

    def key(self) -> object:
        """Identify the line that draws."""
        return self.frame
