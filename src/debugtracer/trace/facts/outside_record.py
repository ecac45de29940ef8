"""The sample whose number an index was made of that was refused."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OutsideRecord(Fact, frozen=True, kw_only=True):
    """Emitted once, when an index is refused and a sample of the batch in flight, fetched again, holds a number for it
    that those of others leave room for."""

    KEEP: ClassVar[int] = 1

    number: int
    """The index that was refused."""
    size: int
    """The length of what it was used on."""
    path: str
    """Where in the sample the number stands: `[2]`, `['label']`."""
    samples: tuple[int, ...]
    """Dataset indices of the samples of the batch that hold such a number."""
    value: int
    """The number in the first of them; `number` less what the program adds."""
    low: int
    high: int
    """The smallest and the largest number at that place of all other samples."""
    beside: int
    """How many samples of this batch and of those before were fetched again beside them."""
    ahead: int = 0
    """How many that no batch has had yet."""
    alike: int = 0
    """How many of the latter hold such a number, too."""
    name: str = ""
    """What the dataset calls the first of the samples, a file or an id; empty where it has no name."""
    record: Frame | None = None
    """The line of the text file that it was read from."""
    lookup: bool = True
    """The program used the index itself: no loss or embedding of torch, whose own words tell more."""
    made: Frame | None = None
    """The line of the program that makes the number."""
    symptom: Frame | None = None
    """The line that used the index."""
