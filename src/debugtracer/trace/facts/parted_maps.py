"""Two objects of one class that give the same keys other numbers."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PartedMaps(Fact, frozen=True, kw_only=True):
    """Seen in what the program can reach while it trains, in one inspected step."""

    KEEP = 8

    owner: str
    """The class of both, and the attribute that numbers keys in each."""
    name: str
    sizes: tuple[int, int]
    """Keys of the first one, and of the one that is made later."""
    shared: int
    differ: int
    """Keys that both have, and those of them with another number in each."""
    key_shown: str
    numbers: tuple[int, int]
    """One of those keys, and its numbers."""
    frame: Frame | None
    """The line that makes the later one, and the one that makes the first."""
    first_frame: Frame | None

    def key(self) -> object:
        """Identify the class and the attribute."""
        return self.owner, self.name
