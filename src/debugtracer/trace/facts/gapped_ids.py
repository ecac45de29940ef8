"""A dict that gives each word or name an id, whose ids run past its length, when the program dies of one of them."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class GappedIds(Fact, frozen=True, kw_only=True):
    """Emitted once, when an index is refused that is the id of an entry of such a dict."""

    KEEP: ClassVar[int] = 1

    number: int
    """The index that was refused."""
    size: int
    """The length of what it was used on."""
    entry: str
    """The key whose id it is, in words."""
    name: str
    """The dict: `Vocabulary.ids`, `word2id`."""
    entries: int
    low: int
    high: int
    """The smallest and the largest id."""
    below: int | None = None
    """The smallest number that the table was asked for beside them, where that is below the smallest id: padding, an
    unknown word."""
    sized: Frame | None = None
    """The line of the size of the table."""
    of_loss: bool = False
    """A loss refused it, as a class that it has no score for."""
    filled: Frame | None = None
    """The line that gives an entry its id."""
    counted: Frame | None = None
    """The loop that counts the ids, entries that are left out too."""
    symptom: Frame | None = None
    """The line that used the index."""
